//! Pages in the shape of those that well-known generators of documentation write.

use expect_test::{ExpectFile, expect_file};

use super::{Extent, Style, rendered};

/// Compares the whole page and its main content.
fn check(html: &str, whole: &ExpectFile, main: &ExpectFile) {
    whole.assert_eq(&format!("{}\n", rendered(html, Style::Markdown, Extent::Whole)));
    main.assert_eq(&format!("{}\n", rendered(html, Style::Markdown, Extent::Main)));
}

macro_rules! site {
    ($name:ident) => {
        #[test]
        fn $name() {
            check(
                include_str!(concat!("pages/", stringify!($name), ".html")),
                &expect_file![concat!("pages/", stringify!($name), ".txt")],
                &expect_file![concat!("pages/", stringify!($name), ".main.txt")],
            );
        }
    };
}

site!(mdbook);
site!(rustdoc);
site!(sphinx);
site!(docusaurus);
site!(mdn);
site!(readme);
