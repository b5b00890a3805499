//! The checksum of a line.

/// CRC-16 with the polynomial 0x1021 and the start value 0xFFFF, not reflected, nothing added at the end
/// ("CCITT-FALSE", "IBM-3740"). Of `123456789` it is 0x29B1.
pub const fn crc16(mut crc: u16, byte: u8) -> u16 {
    crc ^= (byte as u16) << 8;
    let mut bit: u8 = 0;
    while bit < 8 {
        crc = if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 };
        bit = bit.wrapping_add(1);
    }
    crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_the_catalogue_comes_out() {
        assert_eq!(b"123456789".iter().fold(0xffff, |crc, byte| crc16(crc, *byte)), 0x29b1);
    }
}
