//! Addresses, in the normal form of browsers.

use rquickjs::prelude::Opt;
use rquickjs::{Ctx, Object, Result};
use url::{Position, Url, quirks};

use super::bytes::Nullable;

pub(super) fn parse_url<'js>(
    ctx: Ctx<'js>,
    href: String,
    base: Opt<Option<String>>,
) -> Result<Nullable<Object<'js>>> {
    let parsed = match base.0.flatten() {
        Some(base) => Url::parse(&base).and_then(|base| base.join(&href)),
        None => Url::parse(&href),
    };
    parsed.ok().map(|url| parts(&ctx, &url)).transpose().map(Nullable)
}

/// Changes one part; a value that is impossible leaves the address as it was.
pub(super) fn set_url<'js>(
    ctx: Ctx<'js>,
    href: String,
    part: String,
    value: String,
) -> Result<Nullable<Object<'js>>> {
    let Ok(mut url) = Url::parse(&href) else { return Ok(Nullable(None)) };
    // Setters that refuse change nothing, which is what the standard asks for.
    let _ = match part.as_str() {
        "href" => quirks::set_href(&mut url, &value).map_err(|_| ()),
        "protocol" => quirks::set_protocol(&mut url, &value),
        "username" => quirks::set_username(&mut url, &value),
        "password" => quirks::set_password(&mut url, &value),
        "host" => quirks::set_host(&mut url, &value),
        "hostname" => quirks::set_hostname(&mut url, &value),
        "port" => quirks::set_port(&mut url, &value),
        "pathname" => {
            quirks::set_pathname(&mut url, &value);
            Ok(())
        }
        "search" => {
            quirks::set_search(&mut url, &value);
            Ok(())
        }
        "hash" => {
            quirks::set_hash(&mut url, &value);
            Ok(())
        }
        _ => Err(()),
    };
    parts(&ctx, &url).map(|url| Nullable(Some(url)))
}

fn parts<'js>(ctx: &Ctx<'js>, url: &Url) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("href", url.as_str())?;
    object.set("origin", quirks::origin(url))?;
    object.set("protocol", quirks::protocol(url))?;
    object.set("username", quirks::username(url))?;
    object.set("password", quirks::password(url))?;
    object.set("host", &url[Position::BeforeHost..Position::AfterPort])?;
    object.set("hostname", quirks::hostname(url))?;
    object.set("port", quirks::port(url))?;
    object.set("pathname", quirks::pathname(url))?;
    object.set("search", quirks::search(url))?;
    object.set("hash", quirks::hash(url))?;
    Ok(object)
}
