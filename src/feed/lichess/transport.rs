//! TCP, plain or under TLS. TLS is a feature of the build.

use std::io;

use tokio::net::TcpStream;

use super::client::Stream;

/// Whom a server has to be vouched for by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// The authorities that this machine trusts.
    #[default]
    System,
    /// Those of a file, in the form PEM, and nobody else.
    Authorities(Vec<u8>),
}

/// Why there can be no TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The machine trusts nobody.
    #[error(
        "this machine has no certificates of authorities: apt-get install ca-certificates, or name a file with \
         lichess.ca-file"
    )]
    NoAuthorities,
    /// A file of authorities is none.
    #[error(
        "lichess.ca-file has no certificate in the form PEM (-----BEGIN CERTIFICATE-----) that can be read"
    )]
    NotPem,
    /// The build cannot do it.
    #[error("this build has no TLS; build touchmoved with the feature tls")]
    NotBuilt,
    /// The library refuses.
    #[error("TLS cannot be set up: {0}")]
    Library(String),
}

/// The way to a server.
#[derive(Clone)]
pub(super) enum Transport {
    Plain,
    #[cfg(feature = "tls")]
    Tls(tokio_rustls::TlsConnector),
}

impl std::fmt::Debug for Transport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if matches!(self, Transport::Plain) { "Plain" } else { "Tls" })
    }
}

impl Transport {
    #[cfg(not(feature = "tls"))]
    pub(super) fn tls(_: &Trust) -> Result<Transport, TlsError> {
        Err(TlsError::NotBuilt)
    }

    /// TLS with the authorities of `trust`.
    #[cfg(feature = "tls")]
    pub(super) fn tls(trust: &Trust) -> Result<Transport, TlsError> {
        use std::sync::Arc;

        use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};

        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(authorities(trust)?);
        if roots.is_empty() {
            return Err(match trust {
                Trust::System => TlsError::NoAuthorities,
                Trust::Authorities(_) => TlsError::NotPem,
            });
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| TlsError::Library(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Transport::Tls(Arc::new(config).into()))
    }

    /// What is spoken over a connection to `host`.
    pub(super) async fn secure(&self, stream: TcpStream, host: &str) -> io::Result<Box<dyn Stream>> {
        match self {
            Transport::Plain => {
                let _ = host;
                Ok(Box::new(stream))
            }
            #[cfg(feature = "tls")]
            Transport::Tls(connector) => {
                let name = tokio_rustls::rustls::pki_types::ServerName::try_from(host.to_owned());
                let name = name.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
                Ok(Box::new(connector.connect(name, stream).await?))
            }
        }
    }
}

/// What a person should look at where no secure connection comes about.
pub(super) fn remedy(failure: &io::Error) -> &'static str {
    const DATE: &str = "is the date of this machine right?";
    #[cfg(feature = "tls")]
    {
        use tokio_rustls::rustls::{CertificateError, Error};

        let of_certificate = failure.get_ref().and_then(|inner| match inner.downcast_ref()? {
            Error::InvalidCertificate(error) => Some(error),
            _ => None,
        });
        match of_certificate {
            Some(CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }) => {
                return "the certificate is that of another server: is lichess.url right, and does the network want a \
                        log-in?";
            }
            Some(CertificateError::Other(other)) if other.to_string().contains("CaUsedAsEndEntity") => {
                return "the server shows a certificate that is made for an authority (CA:TRUE), as openssl req -x509 \
                        does; make it with -addext basicConstraints=critical,CA:FALSE";
            }
            _ => {}
        }
    }
    let _ = failure;
    DATE
}

#[cfg(feature = "tls")]
fn authorities(
    trust: &Trust,
) -> Result<Vec<tokio_rustls::rustls::pki_types::CertificateDer<'static>>, TlsError> {
    use tokio_rustls::rustls::pki_types::{CertificateDer, pem::PemObject as _};

    match trust {
        Trust::System => Ok(rustls_native_certs::load_native_certs().certs),
        Trust::Authorities(pem) => {
            CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().map_err(|_| TlsError::NotPem)
        }
    }
}
