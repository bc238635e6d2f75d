//! Digests and random numbers.

use md5::{Digest as _, Md5};
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::{digest, hmac};
use rquickjs::{ArrayBuffer, Ctx, Result};

use super::bytes::{Bytes, buffer};
use super::errors;

/// More at once is a mistake.
const RANDOM_BYTES_MAX: usize = 64 << 20;
/// The size of the blocks that MD5 works on, which its HMAC needs.
const MD5_BLOCK_BYTES: usize = 64;

pub(super) fn random_bytes<'js>(ctx: Ctx<'js>, count: usize) -> Result<ArrayBuffer<'js>> {
    if count > RANDOM_BYTES_MAX {
        return Err(errors::range_error(&ctx, "ERR_OUT_OF_RANGE", "too many random bytes at once"));
    }
    let bytes = random(&ctx, count)?;
    buffer(&ctx, &bytes)
}

/// A random UUID (version 4).
pub(super) fn uuid(ctx: Ctx<'_>) -> Result<String> {
    let mut bytes = random(&ctx, 16)?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
}

pub(super) fn hash<'js>(ctx: Ctx<'js>, algorithm: String, bytes: Bytes) -> Result<ArrayBuffer<'js>> {
    let digest = match known(&algorithm) {
        Some(Known::Ring(algorithm, _)) => digest::digest(algorithm, &bytes.0).as_ref().to_vec(),
        Some(Known::Md5) => Md5::digest(&bytes.0).to_vec(),
        None => return Err(unsupported(&ctx, &algorithm)),
    };
    buffer(&ctx, &digest)
}

pub(super) fn hmac<'js>(
    ctx: Ctx<'js>,
    algorithm: String,
    key: Bytes,
    bytes: Bytes,
) -> Result<ArrayBuffer<'js>> {
    let tag = match known(&algorithm) {
        Some(Known::Ring(_, algorithm)) => {
            hmac::sign(&hmac::Key::new(algorithm, &key.0), &bytes.0).as_ref().to_vec()
        }
        Some(Known::Md5) => hmac_md5(&key.0, &bytes.0),
        None => return Err(unsupported(&ctx, &algorithm)),
    };
    buffer(&ctx, &tag)
}

enum Known {
    Ring(&'static digest::Algorithm, hmac::Algorithm),
    Md5,
}

fn known(name: &str) -> Option<Known> {
    match name.to_ascii_lowercase().replace('-', "").as_str() {
        "md5" => Some(Known::Md5),
        "sha1" => Some(Known::Ring(&digest::SHA1_FOR_LEGACY_USE_ONLY, hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY)),
        "sha256" => Some(Known::Ring(&digest::SHA256, hmac::HMAC_SHA256)),
        "sha384" => Some(Known::Ring(&digest::SHA384, hmac::HMAC_SHA384)),
        "sha512" => Some(Known::Ring(&digest::SHA512, hmac::HMAC_SHA512)),
        _ => None,
    }
}

fn hmac_md5(key: &[u8], bytes: &[u8]) -> Vec<u8> {
    let key = if key.len() > MD5_BLOCK_BYTES { Md5::digest(key).to_vec() } else { key.to_vec() };
    let pad = |with: u8| -> Vec<u8> {
        (0..MD5_BLOCK_BYTES).map(|at| key.get(at).copied().unwrap_or(0) ^ with).collect()
    };
    let inner = Md5::new().chain_update(pad(0x36)).chain_update(bytes).finalize();
    Md5::new().chain_update(pad(0x5c)).chain_update(inner).finalize().to_vec()
}

fn random(ctx: &Ctx<'_>, count: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; count];
    match SystemRandom::new().fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(_) => Err(errors::coded(ctx, "ERR_OPERATION_FAILED", "the system gives no random numbers")),
    }
}

fn unsupported(ctx: &Ctx<'_>, algorithm: &str) -> rquickjs::Error {
    let message =
        format!("Digest method not supported: {algorithm} (md5, sha1, sha256, sha384 and sha512 are)");
    errors::coded(ctx, "ERR_UNSUPPORTED", &message)
}
