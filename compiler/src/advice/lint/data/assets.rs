//! Folders and queries from which platforms serve the scripts and style sheets of pages.

/// A folder or a query of assets.
pub(in super::super) struct Assets {
    /// The text in rules that close it.
    pub(in super::super) text: &'static str,
    /// The platform that serves assets from it. Empty for a name that many platforms use.
    pub(in super::super) platform: &'static str,
    /// A style sheet and a script in it, as platforms name them.
    pub(in super::super) samples: [&'static str; 2],
    /// Text in the file that shows that the site uses the platform. Empty if no other platform uses the name.
    pub(in super::super) evidence: &'static str,
    /// Text in the file that shows that the folder has other files on the site. Empty if no text shows this.
    pub(in super::super) counter_evidence: &'static str,
    /// Whether many sites use the name, so that only a rule with the whole name is about assets.
    pub(in super::super) is_common: bool,
}

const fn of(text: &'static str, platform: &'static str, samples: [&'static str; 2]) -> Assets {
    Assets { text, platform, samples, evidence: "", counter_evidence: "", is_common: false }
}

const fn if_seen(evidence: &'static str, assets: Assets) -> Assets {
    Assets { evidence, ..assets }
}

const fn unless(counter_evidence: &'static str, assets: Assets) -> Assets {
    Assets { counter_evidence, ..assets }
}

const fn common(text: &'static str, samples: [&'static str; 2]) -> Assets {
    Assets { text, platform: "", samples, evidence: "", counter_evidence: "", is_common: true }
}

/// The known folders and queries.
#[rustfmt::skip]
pub(in super::super) const ASSETS: &[Assets] = &[
    of("/wp", "WordPress", ["/wp-includes/css/dist/block-library/style.min.css", "/wp-content/plugins/plugin/script.js"]),
    of("/wp-includes/", "WordPress", ["/wp-includes/css/dist/block-library/style.min.css", "/wp-includes/js/jquery/jquery.min.js"]),
    of("/wp-content/", "WordPress", ["/wp-content/themes/theme/style.css", "/wp-content/plugins/plugin/script.js"]),
    of("/wp-content/themes/", "WordPress", ["/wp-content/themes/theme/style.css", "/wp-content/themes/theme/script.js"]),
    of("/wp-content/plugins/", "WordPress", ["/wp-content/plugins/plugin/style.css", "/wp-content/plugins/plugin/script.js"]),
    of("/wp-content/cache/", "WordPress", ["/wp-content/cache/min/1/style.css", "/wp-content/cache/min/1/script.js"]),
    of("/_next/", "Next.js", ["/_next/static/css/app.css", "/_next/static/chunks/main.js"]),
    of("/_next/static/", "Next.js", ["/_next/static/css/app.css", "/_next/static/chunks/main.js"]),
    of("/_nuxt/", "Nuxt", ["/_nuxt/entry.css", "/_nuxt/entry.js"]),
    of("/_astro/", "Astro", ["/_astro/index.css", "/_astro/hoisted.js"]),
    of("/_app/immutable/", "SvelteKit", ["/_app/immutable/assets/0.css", "/_app/immutable/entry/start.js"]),
    of("/_gatsby/", "Gatsby", ["/_gatsby/slices/style.css", "/_gatsby/slices/script.js"]),
    of("/page-data/", "Gatsby", ["/page-data/index/page-data.json", "/page-data/app-data.json"]),
    of("/sites/all/", "Drupal", ["/sites/all/themes/theme/style.css", "/sites/all/modules/module/script.js"]),
    of("/sites/default/files/", "Drupal", ["/sites/default/files/css/css_x.css", "/sites/default/files/js/js_x.js"]),
    if_seen("/profiles/", of("/core/", "Drupal", ["/core/themes/claro/style.css", "/core/misc/drupal.js"])),
    if_seen("/profiles/", of("/misc/", "Drupal", ["/misc/style.css", "/misc/drupal.js"])),
    if_seen("/profiles/", of("/modules/", "Drupal", ["/modules/system/system.css", "/modules/contrib/script.js"])),
    if_seen("/profiles/", of("/themes/", "Drupal", ["/themes/theme/style.css", "/themes/theme/script.js"])),
    if_seen("/administrator", of("/media/", "Joomla", ["/media/jui/css/bootstrap.css", "/media/jui/js/jquery.js"])),
    if_seen("/administrator", of("/modules/", "Joomla", ["/modules/mod_site/style.css", "/modules/mod_site/script.js"])),
    if_seen("/administrator", of("/plugins/", "Joomla", ["/plugins/system/site/style.css", "/plugins/system/site/script.js"])),
    of("/concrete/", "Concrete CMS", ["/concrete/css/app.css", "/concrete/js/jquery.js"]),
    if_seen("/concrete", of("/application/", "Concrete CMS", ["/application/themes/theme/main.css", "/application/files/cache/js/script.js"])),
    if_seen("/concrete", of("/blocks/", "Concrete CMS", ["/blocks/slider/view.css", "/blocks/slider/view.js"])),
    if_seen("/concrete", of("/packages/", "Concrete CMS", ["/packages/theme/css/main.css", "/packages/theme/js/main.js"])),
    if_seen("/concrete", of("/themes/", "Concrete CMS", ["/themes/theme/main.css", "/themes/theme/script.js"])),
    if_seen("/concrete", of("/updates/", "Concrete CMS", ["/updates/concrete-cms/concrete/css/cms.css", "/updates/concrete-cms/concrete/js/cms.js"])),
    of("/App_Plugins/", "Umbraco", ["/App_Plugins/forms/assets/style.css", "/App_Plugins/forms/assets/script.js"]),
    of("/DesktopModules/", "DNN", ["/DesktopModules/html/module.css", "/DesktopModules/html/script.js"]),
    if_seen("/DesktopModules", of("/Portals/", "DNN", ["/Portals/_default/default.css", "/Portals/_default/skins/skin/script.js"])),
    if_seen("/DesktopModules", of("/Resources/", "DNN", ["/Resources/shared/stylesheets/main.css", "/Resources/shared/scripts/dnn.js"])),
    if_seen("/classes/", of("/modules/", "PrestaShop", ["/modules/cart/css/cart.css", "/modules/cart/js/cart.js"])),
    if_seen("/classes/", of("/themes/", "PrestaShop", ["/themes/classic/assets/css/theme.css", "/themes/classic/assets/js/theme.js"])),
    if_seen("/user/pages", of("/system/", "Grav", ["/system/assets/style.css", "/system/assets/jquery/jquery.js"])),
    if_seen("/user/pages", of("/user/", "Grav", ["/user/themes/theme/style.css", "/user/plugins/form/assets/form-styles.css"])),
    of("/bb-themes/", "BoxBilling", ["/bb-themes/theme/style.css", "/bb-themes/theme/script.js"]),
    of("/media/jui/", "Joomla", ["/media/jui/css/bootstrap.css", "/media/jui/js/jquery.js"]),
    of("/media/system/", "Joomla", ["/media/system/css/system.css", "/media/system/js/core.js"]),
    of("/media/vendor/", "Joomla", ["/media/vendor/style.css", "/media/vendor/script.js"]),
    if_seen("/administrator", of("/templates/", "Joomla", ["/templates/site/css/template.css", "/templates/site/js/template.js"])),
    if_seen("/administrator", of("/components/com_", "Joomla", ["/components/com_site/style.css", "/components/com_site/script.js"])),
    of("/skin/frontend/", "Magento", ["/skin/frontend/default/css/styles.css", "/skin/frontend/default/js/script.js"]),
    of("/skin/", "Magento", ["/skin/frontend/default/css/styles.css", "/skin/frontend/default/js/script.js"]),
    of("/pub/static/", "Magento", ["/pub/static/frontend/styles.css", "/pub/static/frontend/require.js"]),
    of("/static/frontend/", "Magento", ["/static/frontend/styles.css", "/static/frontend/require.js"]),
    of("/static/version", "Magento", ["/static/version1/frontend/styles.css", "/static/version1/frontend/require.js"]),
    of("/typo3temp/", "TYPO3", ["/typo3temp/assets/compressed/merged.css", "/typo3temp/assets/compressed/merged.js"]),
    of("/typo3conf/", "TYPO3", ["/typo3conf/ext/site/style.css", "/typo3conf/ext/site/script.js"]),
    common("/_assets/", ["/_assets/css/style.css", "/_assets/js/script.js"]),
    of("/fileadmin/", "TYPO3", ["/fileadmin/templates/style.css", "/fileadmin/templates/script.js"]),
    of("/etc.clientlibs/", "Adobe Experience Manager", ["/etc.clientlibs/site/clientlib.css", "/etc.clientlibs/site/clientlib.js"]),
    of("/etc/designs/", "Adobe Experience Manager", ["/etc/designs/site/clientlib.css", "/etc/designs/site/clientlib.js"]),
    of("/etc/clientlibs/", "Adobe Experience Manager", ["/etc/clientlibs/site.css", "/etc/clientlibs/site.js"]),
    of("/cdn/shop/", "Shopify", ["/cdn/shop/t/1/assets/theme.css", "/cdn/shop/t/1/assets/theme.js"]),
    of("/cdn/shopifycloud/", "Shopify", ["/cdn/shopifycloud/style.css", "/cdn/shopifycloud/script.js"]),
    of("/bitrix/js/", "Bitrix", ["/bitrix/js/style.css", "/bitrix/js/main/core.js"]),
    of("/bitrix/templates/", "Bitrix", ["/bitrix/templates/site/styles.css", "/bitrix/templates/site/script.js"]),
    of("/bitrix/cache/", "Bitrix", ["/bitrix/cache/css/page.css", "/bitrix/cache/js/page.js"]),
    of("/bitrix/", "Bitrix", ["/bitrix/templates/site/styles.css", "/bitrix/js/main/core.js"]),
    of("/catalog/view/theme/", "OpenCart", ["/catalog/view/theme/default/stylesheet.css", "/catalog/view/theme/default/script.js"]),
    of("/catalog/view/javascript/", "OpenCart", ["/catalog/view/javascript/style.css", "/catalog/view/javascript/common.js"]),
    of("/on/demandware.static/", "Salesforce Commerce Cloud", ["/on/demandware.static/site.css", "/on/demandware.static/site.js"]),
    of("/_layouts/", "SharePoint", ["/_layouts/15/styles/core.css", "/_layouts/15/init.js"]),
    of("/clientscript/", "vBulletin", ["/clientscript/vbulletin.css", "/clientscript/vbulletin_global.js"]),
    of("/load.php", "MediaWiki", ["/load.php?modules=site.styles&only=styles", "/load.php?modules=startup"]),
    if_seen("/wiki/", of("/w/", "MediaWiki", ["/w/load.php?modules=site.styles&only=styles", "/w/load.php?modules=startup"])),
    of("/packs/", "Rails", ["/packs/css/application.css", "/packs/js/application.js"]),
    of("/webpack/", "webpack", ["/webpack/main.css", "/webpack/main.js"]),
    of("/static/js/", "Create React App", ["/static/js/main.css", "/static/js/main.js"]),
    of("/static/css/", "Create React App", ["/static/css/main.css", "/static/css/main.js"]),
    of("/wro/", "wro4j", ["/wro/all.css", "/wro/all.js"]),
    of("/WebResource.axd", "ASP.NET", ["/WebResource.axd?d=x", "/WebResource.axd?d=x&t=1"]),
    of("/ScriptResource.axd", "ASP.NET", ["/ScriptResource.axd?d=x", "/ScriptResource.axd?d=x&t=1"]),
    of("/_framework/", "Blazor", ["/_framework/app.css", "/_framework/blazor.web.js"]),
    of("/_content/", "Blazor", ["/_content/site/style.css", "/_content/site/script.js"]),
    of("/_ui/", "Hybris", ["/_ui/css/style.css", "/_ui/js/script.js"]),
    of("/?v=", "a version in the address", ["/style.css?v=1", "/script.js?v=1"]),
    if_seen("/wp-", of("/?", "WordPress", ["/wp-includes/css/style.css?ver=6", "/wp-includes/js/jquery.js?ver=6"])),
    of("/?ver=", "WordPress", ["/wp-includes/css/style.css?ver=6", "/wp-includes/js/jquery.js?ver=6"]),
    of("/?version=", "a version in the address", ["/style.css?version=1", "/script.js?version=1"]),
    of("/?rev=", "a version in the address", ["/style.css?rev=1", "/script.js?rev=1"]),
    of("/?hash=", "a version in the address", ["/style.css?hash=1", "/script.js?hash=1"]),
    common("/css/", ["/css/style.css", "/css/style.css?1"]),
    common("/js/", ["/js/script.js", "/js/script.js?1"]),
    common("/style/", ["/style/style.css", "/style/main.css"]),
    common("/styles/", ["/styles/style.css", "/styles/main.css"]),
    common("/stylesheets/", ["/stylesheets/style.css", "/stylesheets/main.css"]),
    common("/javascript/", ["/javascript/script.js", "/javascript/main.js"]),
    common("/javascripts/", ["/javascripts/script.js", "/javascripts/main.js"]),
    // The shell scripts of Drupal.
    unless("/profiles/", common("/scripts/", ["/scripts/script.js", "/scripts/main.js"])),
    common("/static/", ["/static/css/style.css", "/static/js/script.js"]),
    common("/assets/", ["/assets/css/style.css", "/assets/js/script.js"]),
    common("/dist/", ["/dist/style.css", "/dist/script.js"]),
    common("/build/", ["/build/style.css", "/build/script.js"]),
    common("/bundles/", ["/bundles/style.css", "/bundles/script.js"]),
];

/// Crawlers that render pages, as their operators document.
pub(in super::super) const RENDERERS: &[&str] = &["Googlebot", "bingbot", "Applebot", "YandexBot"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::crawlers;

    #[test]
    fn renderers_are_known_crawlers_and_samples_are_in_their_folders() {
        assert!(RENDERERS.iter().all(|name| crawlers::ALL.iter().any(|known| known.name == *name)));
        let mut texts: Vec<_> = ASSETS.iter().map(|assets| (assets.text, assets.evidence)).collect();
        texts.sort_unstable();
        assert!(texts.windows(2).all(|pair| pair[0] != pair[1]));
        for Assets { text, platform, samples, is_common, .. } in ASSETS {
            let query = text.strip_prefix('/').filter(|text| text.starts_with('?'));
            let is_inside = |sample: &&str| query.map_or(sample.starts_with(text), |query| sample.contains(query));
            assert!(samples.iter().all(is_inside), "{text}");
            assert_eq!(platform.is_empty(), *is_common, "{text}");
        }
    }
}
