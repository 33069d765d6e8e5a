import type { PageElement } from '../tree/pageElement.js';

/**
 * Parts of ids and classes that indicate the purpose of an element. Templates use English names for pages of every
 * language. Each row is one trait: it has its own points in the rules.
 */
const NAME_PARTS = {
  menu: 'nav navbar navigation menu menus mainmenu submenu megamenu topnav sidenav subnav navlist dropdown hamburger navi',
  trail: 'breadcrumb breadcrumbs crumb crumbs bread',
  foot: 'footer foot colophon bottom siteinfo pagefooter sitefooter',
  head: 'header masthead topbar siteheader pageheader top head',
  side: 'sidebar side aside rail sidecol rightcol leftcol rightcolumn leftcolumn secondary complementary',
  related:
    'related recommend recommended recommendation recommendations similar also upsell upsells crosssell cross recirc recirculation suggested suggestions readmore readnext relatedposts youmaylike crosslinks',
  latest: 'trending popular latest recent featured archive archives news feed mostread headlines recently',
  share: 'share sharing social follow facebook twitter sharedaddy addtoany sharethis socials sns',
  comments: 'comment comments respond reply replies disqus discussion commentlist',
  consent: 'cookie cookies consent gdpr privacy onetrust cmp',
  signup: 'newsletter subscribe subscription signup login signin register account mailchimp optin sign paywall',
  promo:
    'promo promotion ad ads advert advertisement advertising sponsor sponsored banner cta adsense dfp gpt outbrain taboola promoted',
  widget: 'widget widgets module sidebarwidget',
  overlay: 'popup modal overlay dialog toast drawer offcanvas lightbox tooltip popover flyout',
  search: 'search filter filters sort sorting facet facets toolbar refine refinements toggle',
  pages: 'pagination pager paging prev previous next pagenav paginator adjacent',
  tags: 'tag tags tagcloud category categories topics keywords labels cat',
  meta: 'meta byline date time published timestamp postmeta dateline info',
  author: 'author bio avatar profile authorbox',
  contents: 'toc tableofcontents outline onthispage',
  body: 'content entry body article story main markdown prose richtext rte wysiwyg articlebody postbody postcontent entrycontent mw',
  post: 'post message posts topic thread answer answers question messages cooked',
  product: 'product pdp description specs specification specifications details detail attributes features ingredients',
  shop: 'price cart buy quantity qty variant variants swatch swatches gallery add wishlist checkout basket stock',
  review: 'review reviews rating ratings stars testimonial testimonials feedback',
  legal: 'copyright legal disclaimer terms license credits',
  card: 'card cards tile tiles teaser teasers thumbnail thumb thumbs',
  slides: 'carousel slider swiper slick slideshow slide slides owl flickity splide marquee',
  grid: 'grid list items listing results collection products loop',
  logo: 'logo logos brand brands partners clients icon icons',
  button: 'btn button buttons action actions controls tools options',
  screenReader: 'sr visuallyhidden screenreader skip skiplink offscreen',
  print: 'noprint edit editsection permalink headerlink anchor anchorjs',
  hero: 'hero jumbotron intro lead lede subtitle standfirst dek deck',
  faq: 'faq faqs accordion tab tabs collapse panel',
  feature: 'feature benefits benefit section sections',
  trust: 'trust badge badges payment payments shipping delivery returns guarantee',
  language: 'lang langs language languages locale country currency translations switcher',
  member: 'user users member members signature stats online rank poster',
  vote: 'vote votes votecell score like likes karma upvote',
  caption: 'caption figcaption figure credit image img photo media video player',
  notes: 'footnote footnotes sdfootnote endnotes references reflist citations bibliography sources notes',
  nofollow: 'metadata navbox catlinks noexcerpt hatnote infobox printfooter',
  address: 'contact address map location phone hours',
  // Whole names that generators of documentation give to their Prev, Next, and language bars.
  generated:
    'navheader navfooter docnav toplang bottomlang chlinktop chlinkbot chlinkprevnexttop chlinkprevnextbot navpath navigationbar titlearea sphinxsidebar',
} as const;

const PART_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(NAME_PARTS).flatMap(([part, words]) => words.split(' ').map((word) => [word, `n:${part}`] as const)),
);

const MAX_PART_LENGTH = Math.max(...[...PART_NAMES.keys()].map((part) => part.length));

const NONE: readonly string[] = [];

/** Finds the known parts in the id and the classes of elements, with a cache of the names of one page. */
export class NameReader {
  readonly #seen = new Map<string, readonly string[]>();

  /** Returns the parts of an element's names, and stores them on the element. */
  read(element: PageElement): readonly string[] {
    return (element.nameParts ??= this.#parts(element.attribs['id'] ?? '', element.attribs['class'] ?? ''));
  }

  #parts(id: string, classes: string): readonly string[] {
    const name = id === '' ? classes : classes === '' ? id : `${id} ${classes}`;
    if (name === '') return NONE;
    const cached = this.#seen.get(name);
    if (cached !== undefined) return cached;
    const found = partsOf(name);
    this.#seen.set(name, found);
    return found;
  }
}

/** Maximum length of a name: longer names are generated and list styles instead of purposes. */
const MAX_NAME = 300;

/** Returns the known parts of a name. A part is a run of letters, and in `camelCase` each word. */
function partsOf(name: string): readonly string[] {
  let found: string[] | null = null;
  const end = Math.min(name.length, MAX_NAME);
  let start = -1;
  let isLower = false;
  for (let i = 0; i <= end; i++) {
    const unit = i < end ? name.charCodeAt(i) : 0;
    const isUpper = unit >= 65 && unit <= 90;
    const continues = (unit >= 97 && unit <= 122) || (isUpper && !isLower);
    if (start !== -1 && !continues) {
      const part = i - start > MAX_PART_LENGTH ? undefined : PART_NAMES.get(name.slice(start, i).toLowerCase());
      if (part !== undefined && !(found ??= []).includes(part)) found.push(part);
      start = -1;
    }
    isLower = unit >= 97 && unit <= 122;
    if (start === -1 && (isLower || isUpper)) start = i;
  }
  return found ?? NONE;
}
