//! The robots.txt files that content management systems write, and their shares of the web.
//!
//! Files from the same system differ only in the sitemap line's host, and shop files also in a shop number.

/// A file shared by many sites, with placeholders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    /// The name shown in statistics.
    pub name: &'static str,
    /// The text. `{host}` is replaced by the host, `{number}` by a ten-digit number.
    pub text: &'static str,
    /// Typical page paths. `{word}` is replaced by a random word.
    pub pages: &'static [&'static str],
}

const PAGES: &[&str] = &["/", "/{word}", "/{word}/{word}", "/{word}/{word}.html", "/{word}?{word}={number}"];

/// The templates and their shares in 1,000 sites. All other sites have hand-written files. The shares of shops, blogs,
/// builders and files without rules are estimated from peaks in the line counts of 41.6 million files, and from the
/// crawlers that only the shops' file names.
pub const TEMPLATES: [(u32, Template); 14] = [
    (
        50,
        Template {
            name: "shop",
            text: include_str!("../templates/shop.txt"),
            pages: &[
                "/",
                "/products/{word}-{word}",
                "/collections/{word}",
                "/collections/{word}?sort_by={word}",
                "/collections/{word}/products/{word}-{word}",
                "/pages/{word}",
                "/cart",
                "/search?q={word}",
                "/blogs/news/{word}-{word}-{word}",
            ],
        },
    ),
    (
        190,
        Template {
            name: "blog",
            text: include_str!("../templates/blog.txt"),
            pages: &[
                "/",
                "/{year}/{month}/{word}-{word}-{word}/",
                "/category/{word}/",
                "/tag/{word}/page/{digit}/",
                "/wp-content/uploads/{year}/{month}/{word}.jpg",
                "/wp-admin/admin-ajax.php?action={word}",
                "/wp-login.php",
                "/?p={number}",
            ],
        },
    ),
    (
        90,
        Template {
            name: "blog with a plugin",
            text: include_str!("../templates/blog_with_plugin.txt"),
            pages: &["/", "/{word}-{word}-{word}/", "/category/{word}/", "/product/{word}/?add-to-cart={number}"],
        },
    ),
    (75, Template { name: "builder", text: include_str!("../templates/builder.txt"), pages: PAGES }),
    (
        22,
        Template {
            name: "designer",
            text: include_str!("../templates/designer.txt"),
            pages: &[
                "/",
                "/{word}",
                "/blog/{word}-{word}",
                "/shop/p/{word}",
                "/{word}?format=json",
                "/{word}?tag={word}",
            ],
        },
    ),
    (
        20,
        Template {
            name: "portal",
            text: include_str!("../templates/portal.txt"),
            pages: &[
                "/",
                "/index.php/{word}/{digit}-{word}",
                "/{word}/{word}",
                "/images/{word}.jpg",
                "/modules/{word}.js",
            ],
        },
    ),
    (
        18,
        Template {
            name: "framework",
            text: include_str!("../templates/framework.txt"),
            pages: &[
                "/",
                "/node/{number}",
                "/{word}/{word}",
                "/user/login?destination=node/{number}",
                "/core/{word}.js?{word}",
            ],
        },
    ),
    (
        10,
        Template {
            name: "forum",
            text: include_str!("../templates/forum.txt"),
            pages: &[
                "/",
                "/threads/{word}-{word}.{number}/",
                "/members/{word}.{number}/",
                "/posts/{number}/",
                "/search/{number}/",
            ],
        },
    ),
    (90, Template { name: "allow, empty rule", text: include_str!("../templates/allow_empty.txt"), pages: PAGES }),
    (60, Template { name: "allow, one rule", text: include_str!("../templates/allow_all.txt"), pages: PAGES }),
    (
        80,
        Template {
            name: "allow, with sitemap",
            text: include_str!("../templates/allow_with_sitemap.txt"),
            pages: PAGES,
        },
    ),
    (
        40,
        Template {
            name: "allow, with comment",
            text: include_str!("../templates/allow_with_comment.txt"),
            pages: PAGES,
        },
    ),
    (30, Template { name: "disallow", text: include_str!("../templates/disallow_all.txt"), pages: PAGES }),
    (25, Template { name: "folders", text: include_str!("../templates/folders.txt"), pages: PAGES }),
];

impl Template {
    /// Fills in the placeholders for one site.
    #[must_use]
    pub fn body(&self, host: &str, number: u64) -> String {
        self.text.replace("{host}", host).replace("{number}", &number.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_leave_room_for_hand_written_files() {
        let total = TEMPLATES.iter().map(|(share, _)| share).sum::<u32>();
        assert!((700..900).contains(&total), "{total} of 1,000");
    }

    #[test]
    fn placeholders_are_filled_in() {
        for (_, template) in TEMPLATES {
            let body = template.body("a.example", 1_234_567_890);
            assert!(!body.contains('{') && !body.contains('}'), "{}", template.name);
        }
    }
}
