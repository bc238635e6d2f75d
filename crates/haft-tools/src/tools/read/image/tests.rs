//! Images that fit, and how others are made to.

use image::codecs::gif::GifEncoder;
use image::{Frame, Rgb, RgbImage, Rgba, RgbaImage};

use super::*;

const LIMITS: ImageLimits = ImageLimits { bytes_max: 1 << 20, side_max: 100 };

fn encoded(image: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.into().write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn plain(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| Rgb([x as u8, y as u8, 7]))
}

/// Nothing that compresses.
fn noise(width: u32, height: u32) -> RgbImage {
    let mut state = 1u32;
    RgbImage::from_fn(width, height, |_, _| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let [_, r, g, b] = state.to_le_bytes();
        Rgb([r, g, b])
    })
}

fn fit(mime: &'static str, bytes: &[u8], limits: ImageLimits) -> Result<Shown, ImageError> {
    fitting(mime, bytes.to_vec(), limits, &Stop::default())
}

/// The media type, and the size that the bytes themselves have, which must be the size that is said.
fn shown(mime: &'static str, bytes: &[u8], limits: ImageLimits) -> (&'static str, u32, u32) {
    let shown = fit(mime, bytes, limits).unwrap();
    let image = image::load_from_memory(&shown.bytes).unwrap();
    let size = shown.scale.unwrap().shown;
    assert_eq!((image.width(), image.height()), (size.width, size.height));
    assert_eq!(size.bytes, shown.bytes.len() as u64);
    assert!(size.bytes <= limits.bytes_max);
    (shown.mime, size.width, size.height)
}

#[test]
fn a_small_image_stays_byte_for_byte() {
    for (mime, format) in [
        ("image/png", ImageFormat::Png),
        ("image/jpeg", ImageFormat::Jpeg),
        ("image/gif", ImageFormat::Gif),
        ("image/webp", ImageFormat::WebP),
    ] {
        let bytes = encoded(plain(100, 40), format);
        let kept = fit(mime, &bytes, LIMITS).unwrap();
        assert_eq!((kept.mime, &kept.bytes), (mime, &bytes));
        let scale = kept.scale.unwrap();
        assert_eq!((scale.original, scale.original.width, scale.original.height), (scale.shown, 100, 40));
    }
}

#[test]
fn a_large_image_is_scaled_down_in_proportion() {
    let large = |format| encoded(plain(400, 100), format);
    assert_eq!(shown("image/png", &large(ImageFormat::Png), LIMITS), ("image/png", 100, 25));
    assert_eq!(shown("image/jpeg", &large(ImageFormat::Jpeg), LIMITS), ("image/jpeg", 100, 25));
    assert_eq!(shown("image/webp", &large(ImageFormat::WebP), LIMITS), ("image/jpeg", 100, 25));
    let see_through = RgbaImage::from_pixel(100, 400, Rgba([1, 2, 3, 4]));
    let bytes = encoded(see_through, ImageFormat::WebP);
    assert_eq!(shown("image/webp", &bytes, LIMITS), ("image/png", 25, 100));
}

#[test]
fn of_a_moving_image_the_first_frame_is_scaled() {
    let frames = [[255, 0, 0, 255], [0, 255, 0, 255]]
        .map(|colour| Frame::new(RgbaImage::from_pixel(200, 200, Rgba(colour))));
    let mut bytes = Vec::new();
    GifEncoder::new(&mut bytes).encode_frames(frames).unwrap();
    let small = ImageLimits { side_max: 200, ..LIMITS };
    assert_eq!(fit("image/gif", &bytes, small).unwrap().bytes, bytes, "a small one keeps moving");
    let shown = fit("image/gif", &bytes, LIMITS).unwrap();
    let pixel = *image::load_from_memory(&shown.bytes).unwrap().to_rgba8().get_pixel(50, 50);
    assert_eq!((shown.mime, pixel), ("image/png", Rgba([255, 0, 0, 255])));
}

#[test]
fn an_image_of_too_many_bytes_is_made_smaller() {
    let bytes = encoded(noise(100, 100), ImageFormat::Png);
    let tight = |bytes_max| ImageLimits { bytes_max, side_max: 100 };
    assert!(bytes.len() > 20_000);
    assert_eq!(shown("image/png", &bytes, tight(20_000)), ("image/jpeg", 100, 100));
    let (mime, width, _) = shown("image/png", &bytes, tight(2000));
    assert!(mime == "image/jpeg" && width < 100, "{width}");
    assert!(matches!(fit("image/png", &bytes, tight(10)), Err(ImageError::TooManyBytes)));
}

#[test]
fn a_decompression_bomb_is_refused_by_its_header() {
    let mut bomb = encoded(plain(1, 1), ImageFormat::Png);
    // Width and height, and the checksum that belongs to them.
    bomb[16..24].copy_from_slice(&[0, 0, 0xc3, 0x50, 0, 0, 0xc3, 0x50]);
    let checksum = crc32(&bomb[12..29]);
    bomb[29..33].copy_from_slice(&checksum.to_be_bytes());
    let refused = fit("image/png", &bomb, LIMITS).err().unwrap();
    assert!(matches!(refused, ImageError::TooManyPixels { width: 50_000, height: 50_000 }), "{refused}");
}

#[test]
fn damage_is_told_where_it_matters() {
    let whole = encoded(noise(300, 300), ImageFormat::Png);
    let cut = &whole[..whole.len() / 2];
    assert!(matches!(fit("image/png", cut, LIMITS), Err(ImageError::Undecodable(_))));
    let garbage = b"\x89PNG\r\n\x1a\nnothing of the kind";
    let shown = fit("image/png", garbage, LIMITS).unwrap();
    assert!(shown.bytes == garbage && shown.scale.is_none(), "what has no size is left alone");
}

#[test]
fn documents_are_left_alone() {
    let shown = fit("application/pdf", b"%PDF-1.4", LIMITS).unwrap();
    assert!(shown.bytes == b"%PDF-1.4" && shown.scale.is_none());
    let few = ImageLimits { bytes_max: 3, ..LIMITS };
    assert!(matches!(fit("application/pdf", b"%PDF-1.4", few), Err(ImageError::TooManyBytes)));
    assert_eq!(source_bytes_max("application/pdf", few), 3);
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}
