//! What pages become.

mod sites;

use expect_test::{Expect, expect};
use url::Url;

use super::{Extent, Style, render};

fn rendered(html: &str, style: Style, extent: Extent) -> String {
    let address = Url::parse("https://docs.example/guide/start.html").unwrap();
    render(html, Some(&address), style, extent)
}

fn markdown(html: &str) -> String {
    rendered(html, Style::Markdown, Extent::Whole)
}

fn text(html: &str) -> String {
    rendered(html, Style::Text, Extent::Whole)
}

#[expect(clippy::needless_pass_by_value, reason = "an expectation is written where it is checked")]
fn check(html: &str, expected: Expect) {
    expected.assert_eq(&markdown(html));
}

#[test]
fn inline_marks_stand_where_their_text_does() {
    check(
        "<p>a <b> bold </b>word, <i>it</i><em>alic</em>, <del>gone</del>, <code>x  y</code> and <kbd>`</kbd>.</p>",
        expect!["a **bold** word, *italic*, ~~gone~~, `x y` and `` ` ``."],
    );
    check(
        "<p>no<b></b>thing <strong><b>twice</b></strong> <b>one<br>two</b></p>",
        expect![[r#"
        nothing **twice** **one  
        two**"#]],
    );
    check(
        "<h2>A <b>bold</b> <code>head</code></h2>x<h7>none</h7>",
        expect![[r#"
        ## A bold `head`

        xnone"#]],
    );
    check(
        "<p>5 * 3 _x_ snake_case [a] `b` &lt;div> a\\b</p><p># no<p>1. no<p>- no<p>> no",
        expect![[r#"
            5 \* 3 \_x\_ snake_case \[a] \`b\` \<div> a\b

            \# no

            1\. no

            \- no

            \> no"#]],
    );
}

#[test]
fn links_are_absolute_and_say_something() {
    check(
        r##"<a href="../a b.html?x=(1)">up</a> <a href="//cdn.example/x">cdn</a> <a href="#here">here</a>
            <a href="mailto:a@b.example">mail</a> <a href="javascript:x()">script</a> <a href="/x"></a>
            <a href="/t" title='A "title"'>titled</a> <a>bare</a> <a href=x><img src=i.png alt="an [image]"></a>"##,
        expect![[
            r#"[up](https://docs.example/a%20b.html?x=%281%29) [cdn](https://cdn.example/x) [here](https://docs.example/guide/start.html#here) [mail](mailto:a@b.example) script [titled](https://docs.example/t "A 'title'") bare [![an image](i.png)](https://docs.example/guide/x)"#
        ]],
    );
    check(
        r##"<h2 id=x><a href="#x">Wrapped</a></h2><h3>Marked<a class=headerlink href="#y">¶</a></h3>"##,
        expect![[r#"
            ## Wrapped

            ### Marked"#]],
    );
    check(
        r##"<base href="https://other.example/root/"><a href="page">based</a>"##,
        expect!["[based](https://other.example/root/page)"],
    );
    check(
        r##"<a href="/card"><div><h3>Card</h3><p>with text</p></div></a><p>after"##,
        expect![[r#"
        [Card with text](https://docs.example/card)

        after"#]],
    );
}

#[test]
fn lists_are_nested_and_numbered() {
    check(
        "<ol start=9><li>nine<li>ten<ul><li>a<li>b<p>more b</ul><li><pre><code>code\n  here</code></pre></ol>after",
        expect![[r#"
            9. nine
            10. ten
                - a
                - b

                  more b
            11. ```
                code
                  here
                ```

            after"#]],
    );
    check(
        "<ul><li><input type=checkbox checked> done<li><input type=checkbox> open</ul>",
        expect![[r#"
        - [x] done
        - [ ] open"#]],
    );
    check(
        "<li>alone<li>again<dl><dt>term<dd>what it is<dt>other<dd>too</dl>",
        expect![[r#"
        - alone
        - again

          term
          what it is
          other
          too"#]],
    );
}

#[test]
fn code_keeps_its_shape_and_its_language() {
    check(
        "<pre><code class=\"language-rust\">fn main() {\n    x\t&lt;y>\n}\n</code></pre>",
        expect![[r#"
        ```rust
        fn main() {
            x	<y>
        }
        ```"#]],
    );
    check(
        "<div class='highlight-python notranslate'><div class=highlight><pre><span>import</span> os\n</pre></div></div>",
        expect![[r#"
            ```python
            import os
            ```"#]],
    );
    check(
        "<pre class='brush: js notranslate'><code>let a;</code><button>Copy</button></pre>",
        expect![[r#"
        ```js
        let a;
        ```"#]],
    );
    check(
        "<pre>a ``` b\n<br>c</pre><p><code>a `` b</code>",
        expect![[r#"
        ````
        a ``` b

        c
        ````

        ```a `` b```"#]],
    );
}

#[test]
fn tables_are_tables_and_layout_is_not() {
    check(
        "<table><caption>Sizes</caption><thead><tr><th>Name<th>Size</thead><tr><td>a|b<td><code>1</code><br>or 2\
         <tr><td colspan=2><p>both<p>lines</table>",
        expect![[r#"
            Sizes

            | Name | Size |
            | --- | --- |
            | a\|b | `1`<br>or 2 |
            | both<br>lines |  |"#]],
    );
    check(
        "<table><tr><td>a<td>b<tr><td>c</table>",
        expect![[r#"
        |  |  |
        | --- | --- |
        | a | b |
        | c |  |"#]],
    );
    check(
        "<table><tr><td><h1>Old</h1><p>layout</p></td></tr></table>",
        expect![[r#"
        # Old

        layout"#]],
    );
    check(
        "<table><tr><td class=linenos><pre>1\n2</pre></td><td class=code><pre>x\ny</pre></td></tr></table>",
        expect![[r#"
            ```
            x
            y
            ```"#]],
    );
}

#[test]
fn what_nobody_sees_is_left_out() {
    let hidden = [
        "<script>bad()</script>",
        "<style>p { color: red }</style>",
        "<noscript>bad</noscript>",
        "<template><p>bad</p></template>",
        "<iframe>bad</iframe>",
        "<svg><title>bad</title><path d=x /><text>bad</text></svg>",
        "<p hidden>bad</p>",
        "<div aria-hidden=true>bad<div>bad</div></div>",
        "<span style='color:red; DISPLAY : none !important'>bad</span>",
        "<span style='font-size:0px'>bad</span>",
        "<b style=visibility:hidden>bad</b>",
        "<dialog>bad</dialog>",
        "<!-- bad -->",
        "<title>bad</title>",
        "<select><option>bad<option>bad</select>",
    ];
    for html in hidden {
        assert_eq!(
            markdown(&format!("<div>a {html} b</div>")).split_whitespace().collect::<Vec<_>>(),
            ["a", "b"],
            "{html}"
        );
        assert_eq!(
            text(&format!("<div>a {html} b</div>")).split_whitespace().collect::<Vec<_>>(),
            ["a", "b"],
            "{html}"
        );
    }
    // What is left open is hidden no longer than what it stands in.
    check(
        "<div>a<span hidden>bad</div>b<ul><li hidden>bad<li>c</ul><p hidden>bad<p>d",
        expect![[r#"
        a

        b

        - c

        d"#]],
    );
    assert_eq!(markdown("a\u{200b}b\u{e0041}\u{e0042}c&nbsp;d&shy;e"), "abc de");
}

#[test]
fn broken_pages_are_read_as_well_as_they_can_be() {
    check(
        "<p>one<p>two<b>bold<p>three</i></div></table>four",
        expect![[r#"
        one

        two**bold**

        threefour"#]],
    );
    check(
        "<a href=/x>open<ul><li>item</ul><table><td>cell</table>",
        expect![[r#"
        [open](https://docs.example/x)

        - item

        cell"#]],
    );
    check(
        "a<br><br>b<br/>c</br>d</p>e<hr>f",
        expect![[r#"
        a

        b  
        c  
        d  
        e

        ---

        f"#]],
    );
    check(
        "<p>&notanentity; &amp &copy; &#x41; <unknown-tag>x</unknown-tag> <3 a<b",
        expect!["¬anentity; & © A x <3 a"],
    );
    check("", expect![]);
    check("just text\n\nwithout   tags", expect!["just text without tags"]);
}

#[test]
fn plain_text_has_no_marks() {
    let html = "<h1>Head</h1><p>a <b>b</b> <a href=x>c</a><ul><li>one<li>two</ul>\
                <table><tr><td>x<td>y<tr><td>z</table><pre>  keep\n  this</pre><blockquote>q</blockquote><img alt=i src=x>";
    expect![[r#"
        Head

        a b c

        one
        two

        x y
        z

          keep
          this

        q"#]]
    .assert_eq(&text(html));
}

#[test]
fn the_main_content_can_be_had_alone() {
    let page = |main: &str| format!("<nav>menu</nav><header>top</header>{main}<footer>end</footer>");
    let main = |html: &str| rendered(html, Style::Markdown, Extent::Main);
    assert_eq!(
        main(&page("<main><h1>Title</h1><nav>toc</nav>text<aside>ad</aside></main>")),
        "# Title\n\ntext"
    );
    assert_eq!(main(&page("<article>one</article><p>between<article>two</article>")), "one\n\ntwo");
    assert_eq!(main(&page("<div role=main>in<div>deep</div></div>")), "in\n\ndeep");
    assert_eq!(main(&page("<div id=content>named</div>")), "named");
    assert_eq!(main("<p>nothing is marked"), "nothing is marked");
}

#[test]
fn a_hundred_thousand_elements_inside_each_other_are_no_deeper_than_one() {
    for tag in
        ["div", "blockquote", "ul", "li", "b", "a href=x", "table", "td", "p", "svg", "font", "h1", "pre"]
    {
        let name = tag.split(' ').next().unwrap();
        let html =
            format!("{}seen{}", format!("<{tag}>").repeat(100_000), format!("</{name}>").repeat(100_000));
        let shown = markdown(&html);
        assert_eq!(shown.contains("seen"), tag != "svg", "{tag}");
        assert!(shown.len() < 2000, "{tag}");
    }
}

proptest::proptest! {
    /// Whatever pages are made of, they are read to the end, and what nobody sees stays unseen.
    #[test]
    fn no_page_is_too_broken(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..60)) {
        let html = pieces.concat();
        for style in [Style::Markdown, Style::Text] {
            for extent in [Extent::Whole, Extent::Main] {
                proptest::prop_assert!(!rendered(&html, style, extent).contains("unseen"), "{}", html);
            }
        }
    }
}

const PIECES: &[&str] = &[
    "<p>",
    "</p>",
    "<b>",
    "</b>",
    "<i>",
    "</i>",
    "<a href=/x>",
    "<a href='#y' title='t'>",
    "</a>",
    "<ul>",
    "</ul>",
    "<ol start=3>",
    "</ol>",
    "<li>",
    "</li>",
    "<table>",
    "</table>",
    "<tr>",
    "<td>",
    "<td colspan=999>",
    "<th>",
    "</td>",
    "<pre>",
    "</pre>",
    "<code class=language-c>",
    "</code>",
    "<blockquote>",
    "</blockquote>",
    "<h2>",
    "</h2>",
    "<br>",
    "<hr>",
    "<img alt=a src=b>",
    "<div class=highlight-x>",
    "<div>",
    "</div>",
    "<main>",
    "</main>",
    "<svg>",
    "</svg>",
    "<script>unseen</script>",
    "<p hidden>unseen</p>",
    "<button>",
    "</button>",
    "<dl>",
    "<dt>",
    "<dd>",
    "</dl>",
    " ",
    "\n",
    "word",
    "é\u{200b}",
    "`",
    "``",
    "*",
    "_",
    "|",
    "&amp;",
    "&#0;",
    "<",
    "1.",
    "#",
    "\u{feff}",
];
