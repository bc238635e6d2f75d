//! The tags that mean something here.

/// A tag. Those that mean nothing here are told apart by a hash of their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    A,
    Article,
    Aside,
    Base,
    Blockquote,
    Br,
    Button,
    Code,
    Dd,
    Del,
    Div,
    Dl,
    Dt,
    Em,
    Footer,
    Heading(u8),
    Hr,
    Img,
    Input,
    Li,
    Main,
    Nav,
    Ol,
    Option,
    P,
    Pre,
    /// A block without a meaning of its own.
    Block(u32),
    /// Drawings, which have their own rules for tags that close themselves.
    Svg,
    Strong,
    Table,
    TableSection(u32),
    Td,
    Th,
    Tr,
    Ul,
    /// What no reader sees.
    Invisible(u32),
    /// What has no content.
    Void,
    /// Everything else.
    Other(u32),
}

impl Tag {
    pub(super) fn of(name: &[u8]) -> Tag {
        match name {
            b"a" => Tag::A,
            b"article" => Tag::Article,
            b"aside" => Tag::Aside,
            b"base" => Tag::Base,
            b"blockquote" => Tag::Blockquote,
            b"br" => Tag::Br,
            b"button" => Tag::Button,
            b"code" | b"kbd" | b"samp" | b"tt" => Tag::Code,
            b"dd" => Tag::Dd,
            b"del" | b"s" | b"strike" => Tag::Del,
            b"div" => Tag::Div,
            b"dl" => Tag::Dl,
            b"dt" => Tag::Dt,
            b"em" | b"i" => Tag::Em,
            b"footer" => Tag::Footer,
            [b'h', level @ b'1'..=b'6'] => Tag::Heading(level - b'0'),
            b"hr" => Tag::Hr,
            b"img" => Tag::Img,
            b"input" => Tag::Input,
            b"li" => Tag::Li,
            b"main" => Tag::Main,
            b"nav" => Tag::Nav,
            b"ol" => Tag::Ol,
            b"option" => Tag::Option,
            b"p" => Tag::P,
            b"pre" | b"listing" | b"xmp" => Tag::Pre,
            b"strong" | b"b" => Tag::Strong,
            b"svg" => Tag::Svg,
            b"table" => Tag::Table,
            b"tbody" | b"thead" | b"tfoot" => Tag::TableSection(hash(name)),
            b"td" => Tag::Td,
            b"th" => Tag::Th,
            b"tr" => Tag::Tr,
            b"ul" | b"menu" | b"dir" => Tag::Ul,
            b"address" | b"body" | b"caption" | b"center" | b"details" | b"fieldset" | b"figcaption"
            | b"figure" | b"form" | b"header" | b"hgroup" | b"html" | b"legend" | b"search" | b"section"
            | b"summary" => Tag::Block(hash(name)),
            b"audio" | b"canvas" | b"datalist" | b"iframe" | b"noembed" | b"noframes" | b"noscript"
            | b"object" | b"script" | b"select" | b"style" | b"template" | b"textarea" | b"title"
            | b"video" => Tag::Invisible(hash(name)),
            b"area" | b"basefont" | b"bgsound" | b"col" | b"embed" | b"frame" | b"link" | b"meta"
            | b"param" | b"source" | b"track" | b"wbr" => Tag::Void,
            other => Tag::Other(hash(other)),
        }
    }

    /// Whether nothing can stand in it.
    pub(super) fn is_void(self) -> bool {
        matches!(self, Tag::Void | Tag::Base | Tag::Br | Tag::Hr | Tag::Img | Tag::Input)
    }

    /// Whether it begins a line of its own, and ends a paragraph that was left open.
    pub(super) fn is_block(self) -> bool {
        matches!(
            self,
            Tag::Article
                | Tag::Aside
                | Tag::Blockquote
                | Tag::Block(_)
                | Tag::Dd
                | Tag::Div
                | Tag::Dl
                | Tag::Dt
                | Tag::Footer
                | Tag::Heading(_)
                | Tag::Hr
                | Tag::Li
                | Tag::Main
                | Tag::Nav
                | Tag::Ol
                | Tag::P
                | Tag::Pre
                | Tag::Table
                | Tag::Ul
        )
    }

    /// Whether closing tags inside of it reach nothing outside of it.
    pub(super) fn is_boundary(self) -> bool {
        matches!(self, Tag::Td | Tag::Th | Tag::Table)
    }

    /// Whether it is what this one, when it begins, ends if it was left open, and within what that is looked for.
    pub(super) fn ends(self, open: Tag) -> Ends {
        let (same, within) = match self {
            Tag::Li => (open == Tag::Li, matches!(open, Tag::Ul | Tag::Ol)),
            Tag::Dd | Tag::Dt => (matches!(open, Tag::Dd | Tag::Dt), open == Tag::Dl),
            Tag::Td | Tag::Th => (matches!(open, Tag::Td | Tag::Th), matches!(open, Tag::Tr | Tag::Table)),
            Tag::Tr => (open == Tag::Tr, open == Tag::Table),
            Tag::TableSection(_) => (matches!(open, Tag::TableSection(_)), open == Tag::Table),
            Tag::Option => (open == Tag::Option, !matches!(open, Tag::Other(_))),
            Tag::A => (open == Tag::A, open.is_boundary()),
            tag if tag.is_block() => (open == Tag::P, open.is_boundary() || open == Tag::Button),
            _ => (false, true),
        };
        match (same, within) {
            (true, _) => Ends::This,
            (false, true) => Ends::Nothing,
            (false, false) => Ends::MaybeBelow,
        }
    }
}

/// What the beginning of a tag means for one that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// It ends.
    This,
    /// What it stands in may end.
    MaybeBelow,
    /// Nothing ends.
    Nothing,
}

fn hash(name: &[u8]) -> u32 {
    name.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}
