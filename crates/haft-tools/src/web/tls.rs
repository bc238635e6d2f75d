//! What is wrong with a secure connection, in words that say what to do.

use std::error::Error as StdError;
use std::io;

use rustls::{CertificateError, Error};

const UNTRUSTED: &str = "its certificate was issued by nobody this machine trusts (self-signed?); \
                         SSL_CERT_FILE can name a file of further issuers";

/// The problem, if an error is about TLS.
pub(super) fn problem(error: &(dyn StdError + 'static)) -> Option<String> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<Error>() {
            return Some(named(found));
        }
        // An I/O error hides what it was made of from `source`.
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = match inner {
            Some(inner) => Some(inner as &(dyn StdError + 'static)),
            None => error.source(),
        };
    }
    None
}

fn named(error: &Error) -> String {
    use CertificateError as C;
    let reason = match error {
        Error::InvalidCertificate(certificate) => match certificate {
            C::Expired | C::ExpiredContext { .. } => "its certificate has expired",
            C::NotValidYet | C::NotValidYetContext { .. } => "its certificate is not valid yet",
            C::Revoked => "its certificate was revoked",
            C::UnknownIssuer => UNTRUSTED,
            // What people sign for themselves is often an issuer and a host in one.
            C::Other(other) if format!("{other:?}").contains("CaUsedAsEndEntity") => UNTRUSTED,
            C::NotValidForName | C::NotValidForNameContext { .. } => "its certificate is for another host",
            C::BadSignature => "the signature of its certificate is wrong",
            other => return format!("its certificate is not valid ({other})"),
        },
        Error::NoCertificatesPresented => "it shows no certificate",
        Error::InvalidMessage(_) => "it does not speak TLS; use http:// if that is meant",
        Error::PeerIncompatible(_) => "it has no version of TLS or cipher in common with this machine",
        other => return other.to_string(),
    };
    reason.to_owned()
}

#[cfg(test)]
mod tests {
    use std::io;

    use rustls::{CertificateError, Error};

    use super::problem;

    #[test]
    fn a_problem_is_named_however_deep_it_lies() {
        let rows = [
            (CertificateError::Expired, "expired"),
            (CertificateError::NotValidYet, "not valid yet"),
            (CertificateError::Revoked, "revoked"),
            (CertificateError::UnknownIssuer, "nobody this machine trusts"),
            (CertificateError::NotValidForName, "another host"),
        ];
        for (error, words) in rows {
            let wrapped = io::Error::other(io::Error::other(Error::InvalidCertificate(error)));
            assert!(problem(&wrapped).unwrap().contains(words), "{words}");
        }
        assert_eq!(problem(&io::Error::other("reset")), None);
    }
}
