//! What is wrong with a request, in words.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;

/// A problem, as JSON.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) status: StatusCode,
    pub(super) text: String,
}

impl Problem {
    pub(super) fn new(status: StatusCode, text: impl Into<String>) -> Problem {
        Problem { status, text: text.into() }
    }

    pub(super) fn bad(text: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, text)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(json!({ "error": self.text }))).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
