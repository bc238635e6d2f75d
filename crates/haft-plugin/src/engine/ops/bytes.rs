//! Bytes from JavaScript and to it. The engine's buffers cannot be read without unsafe code, so their bytes come as
//! base64, by the engine's own function, taken before anybody could replace it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rquickjs::function::This;
use rquickjs::{ArrayBuffer, Ctx, Error, FromJs, IntoJs, Object, Result, TypedArray, Value};

use super::super::host::host;

/// Bytes that JavaScript gives: an array of bytes, a buffer, or text, which is UTF-8.
pub(super) struct Bytes(pub(super) Vec<u8>);

impl<'js> FromJs<'js> for Bytes {
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Bytes> {
        if value.is_string() {
            return String::from_js(ctx, value).map(|text| Bytes(text.into_bytes()));
        }
        let object = Object::from_value(value)?;
        let array = if object.is_typed_array::<u8>() {
            object
        } else {
            match ArrayBuffer::from_object(object) {
                Some(buffer) => TypedArray::<u8>::from_arraybuffer(buffer)?.into_object(),
                // The engine has thrown already that it is no buffer.
                None => return Err(Error::Exception),
            }
        };
        let to_base64 = host().intrinsics().to_base64.clone().restore(ctx)?;
        let text: String = to_base64.call((This(array),))?;
        let bytes = STANDARD
            .decode(text)
            .map_err(|error| Error::new_from_js_message("Uint8Array", "bytes", error.to_string()))?;
        Ok(Bytes(bytes))
    }
}

/// A buffer of the engine's own, which counts against its memory.
pub(super) fn buffer<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<ArrayBuffer<'js>> {
    ArrayBuffer::new_copy(ctx.clone(), bytes)
}

/// A value that is `null` when it is missing, and not `undefined`.
pub(super) struct Nullable<T>(pub(super) Option<T>);

impl<'js, T: IntoJs<'js>> IntoJs<'js> for Nullable<T> {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        match self.0 {
            Some(value) => value.into_js(ctx),
            None => Ok(Value::new_null(ctx.clone())),
        }
    }
}
