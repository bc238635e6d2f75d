//! Images as a model takes them: byte for byte if they are small enough, else scaled down to fit.
//!
//! How much memory an image takes is decided by its header, before anything is decoded, and one is decoded at a time.

use std::io::Cursor;
use std::sync::{Mutex, PoisonError};

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::blocking::Stop;

/// An image file that has more bytes is not even looked at, unless so many may be shown.
const SOURCE_BYTES_MAX: u64 = 64 << 20;
/// So much may an image take up once it is decoded: 85 million pixels without transparency.
const DECODED_BYTES_MAX: u64 = 256 << 20;
const JPEG_QUALITY: u8 = 85;
/// Smaller than this nothing can be recognised.
const SIDE_MIN: u32 = 16;

/// Whoever decodes an image holds this.
static DECODING: Mutex<()> = Mutex::new(());

/// What may be shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ImageLimits {
    /// Of an image or a document.
    pub(crate) bytes_max: u64,
    /// Of the longer side of an image, in pixels.
    pub(crate) side_max: u32,
}

/// What is shown.
pub(crate) struct Shown {
    pub(crate) mime: &'static str,
    pub(crate) bytes: Vec<u8>,
    /// How large it is; `None` if it is no image, or one whose size is unknown.
    pub(crate) scale: Option<Scale>,
}

/// How large an image is, and how large it is shown.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Scale {
    /// As it is in the file.
    pub(super) original: Size,
    /// As it is shown.
    pub(super) shown: Size,
}

impl Scale {
    /// What there is to say about an image that is not shown as it is.
    pub(crate) fn note(&self) -> Option<String> {
        let Scale { original, shown } = self;
        let [from, to] = [original, shown].map(|size| format!("{} x {}", size.width, size.height));
        (shown != original).then(|| format!(" (scaled down from {from} to {to} pixels)"))
    }
}

/// How large an image is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Size {
    /// In pixels.
    pub(super) width: u32,
    /// In pixels.
    pub(super) height: u32,
    /// Of the encoded image.
    pub(super) bytes: u64,
}

/// Why an image is not shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ImageError {
    /// It has too many bytes, and cannot be made to have fewer.
    #[error("it has too many bytes")]
    TooManyBytes,
    /// It would take up too much memory.
    #[error("it has {width} x {height} pixels, more than are decoded; scale it down with another program")]
    TooManyPixels {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
    /// It is damaged, or written in an unusual way.
    #[error("it cannot be decoded: {0}")]
    Undecodable(#[from] image::ImageError),
}

/// How many bytes of a file are worth reading.
pub(super) fn source_bytes_max(mime: &str, limits: ImageLimits) -> u64 {
    let least = if format_of(mime).is_some() { SOURCE_BYTES_MAX } else { 0 };
    limits.bytes_max.max(least)
}

/// Makes an image or a document fit the limits.
pub(crate) fn fitting(
    mime: &'static str,
    bytes: Vec<u8>,
    limits: ImageLimits,
    stop: &Stop,
) -> Result<Shown, ImageError> {
    let has_few_bytes = bytes.len() as u64 <= limits.bytes_max;
    let is_readable = bytes.len() as u64 <= source_bytes_max(mime, limits);
    let header = format_of(mime).filter(|_| is_readable).and_then(|format| {
        let (width, height) = open(format, &bytes).ok()?.dimensions();
        Some((format, Size { width, height, bytes: bytes.len() as u64 }))
    });
    match header {
        None if has_few_bytes => Ok(Shown { mime, bytes, scale: None }),
        None => Err(ImageError::TooManyBytes),
        Some((_, size)) if has_few_bytes && size.width.max(size.height) <= limits.side_max => {
            Ok(Shown { mime, bytes, scale: Some(Scale { original: size, shown: size }) })
        }
        Some((format, size)) => {
            let _one_at_a_time = DECODING.lock().unwrap_or_else(PoisonError::into_inner);
            scaled(format, &bytes, size, limits, stop)
        }
    }
}

fn format_of(mime: &str) -> Option<ImageFormat> {
    match mime {
        "image/png" => Some(ImageFormat::Png),
        "image/jpeg" => Some(ImageFormat::Jpeg),
        "image/gif" => Some(ImageFormat::Gif),
        "image/webp" => Some(ImageFormat::WebP),
        _ => None,
    }
}

/// Looks at the header of an image.
fn open(format: ImageFormat, bytes: &[u8]) -> Result<impl ImageDecoder + '_, image::ImageError> {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(DECODED_BYTES_MAX);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    reader.into_decoder()
}

/// Scales an image down; of one that moves, the first frame. It is scaled further until its bytes are few enough.
fn scaled(
    format: ImageFormat,
    bytes: &[u8],
    original: Size,
    limits: ImageLimits,
    stop: &Stop,
) -> Result<Shown, ImageError> {
    let image = decoded(format, bytes, original)?;
    let mut side = limits.side_max.min(original.width.max(original.height));
    let mut image =
        if side < image.width().max(image.height()) { image.thumbnail(side, side) } else { image };
    let is_opaque = !image.color().has_alpha();
    loop {
        let keeps_png = matches!(format, ImageFormat::Png | ImageFormat::Gif) || !is_opaque;
        let ways = [keeps_png.then_some(Way::Png), is_opaque.then_some(Way::Jpeg)];
        for way in ways.into_iter().flatten() {
            if stop.is_set() {
                return Err(ImageError::TooManyBytes);
            }
            let bytes = way.encode(&image)?;
            if bytes.len() as u64 <= limits.bytes_max {
                let shown = Size { width: image.width(), height: image.height(), bytes: bytes.len() as u64 };
                return Ok(Shown { mime: way.mime(), bytes, scale: Some(Scale { original, shown }) });
            }
        }
        side = side / 3 * 2;
        if side < SIDE_MIN {
            return Err(ImageError::TooManyBytes);
        }
        image = image.thumbnail(side, side);
    }
}

fn decoded(format: ImageFormat, bytes: &[u8], size: Size) -> Result<DynamicImage, ImageError> {
    let too_many = ImageError::TooManyPixels { width: size.width, height: size.height };
    let mut decoder = match open(format, bytes) {
        Ok(decoder) if decoder.total_bytes() <= DECODED_BYTES_MAX => decoder,
        Ok(_) | Err(image::ImageError::Limits(_)) => return Err(too_many),
        Err(error) => return Err(error.into()),
    };
    // What a camera notes about how it was held is lost with the header.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut image = match DynamicImage::from_decoder(decoder) {
        Ok(image) => image,
        Err(image::ImageError::Limits(_)) => return Err(too_many),
        Err(error) => return Err(error.into()),
    };
    image.apply_orientation(orientation);
    Ok(image)
}

/// How a scaled image is encoded.
#[derive(Clone, Copy)]
enum Way {
    Png,
    Jpeg,
}

impl Way {
    fn mime(self) -> &'static str {
        match self {
            Way::Png => "image/png",
            Way::Jpeg => "image/jpeg",
        }
    }

    fn encode(self, image: &DynamicImage) -> Result<Vec<u8>, image::ImageError> {
        let mut bytes = Vec::new();
        match self {
            Way::Png => {
                let encoder =
                    PngEncoder::new_with_quality(&mut bytes, CompressionType::Default, FilterType::Adaptive);
                match image.color().has_alpha() {
                    true => image.to_rgba8().write_with_encoder(encoder),
                    false => image.to_rgb8().write_with_encoder(encoder),
                }
            }
            Way::Jpeg => {
                let encoder = JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY);
                image.to_rgb8().write_with_encoder(encoder)
            }
        }?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests;
