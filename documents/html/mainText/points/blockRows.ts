import { NAME_ROW } from './nameRow.js';
import type { Row } from './row.js';

/**
 * The points of each trait on every page. They were fitted to half of the development set of WCXB, so that the mean F1
 * of its pages is highest (bench/extraction.md).
 */
export const BLOCK_ROWS: readonly Row[] = [
  {
    // tag
    reason: 'The tag states the purpose of a block: navigation, asides and footers are seldom content.',
    gain: 0.78,
    points: [
      ['tag:a', -0.2],
      ['tag:article', -0.61],
      ['tag:aside', 2.74],
      ['tag:blockquote', -0.63],
      ['tag:dd', 0.57],
      ['tag:details', -0.92],
      ['tag:dl', 0.91],
      ['tag:fieldset', 1.05],
      ['tag:figcaption', 2.03],
      ['tag:figure', 3.37],
      ['tag:footer', 2.8],
      ['tag:h1', 3.21],
      ['tag:h2', -2.66],
      ['tag:h3', -2.14],
      ['tag:h4', -1.37],
      ['tag:h5', -0.87],
      ['tag:header', 2.05],
      ['tag:label', 1.39],
      ['tag:li', -1.76],
      ['tag:main', -0.85],
      ['tag:nav', 1.77],
      ['tag:ol', 2.34],
      ['tag:other', -0.14],
      ['tag:p', -1.55],
      ['tag:pre', -0.17],
      ['tag:section', -0.23],
      ['tag:small', 0.3],
      ['tag:span', -0.79],
      ['tag:strong', -2.76],
      ['tag:table', -0.64],
      ['tag:td', -2.77],
      ['tag:tr', -1.82],
      ['tag:ul', -1.04],
    ],
  },
  {
    // role
    reason: 'ARIA roles state the purpose of elements without a specific tag.',
    gain: -0.0,
    points: [
      ['role:banner', 0.32],
      ['role:complementary', 0.4],
      ['role:contentinfo', 0.15],
      ['role:list', -0.35],
      ['role:main', -0.51],
      ['role:navigation', 0.52],
      ['role:presentation', -0.27],
    ],
  },
  {
    // links
    reason: 'Menus and teasers are mostly links; text has few.',
    gain: -0.02,
    points: [
      ['link..0.001', -0.33],
      ['link0.001..0.15', -0.49],
      ['link0.15..0.35', -0.18],
      ['link0.75..0.92', 0.24],
      ['link0.92..', 0.77],
    ],
  },
  {
    // linkCount
    reason: 'One link is a reference, many are a menu.',
    gain: 0.02,
    points: [['links10', -0.2]],
  },
  {
    // linkKind
    reason: 'Blocks of links: short ones are menus, long ones are headlines of other pages.',
    gain: -0.17,
    points: [
      ['headlines', 0.23],
      ['linklist', 0.36],
      ['linksInCore', 0.13],
      ['linksOutside', 0.55],
      ['menuish', 0.22],
    ],
  },
  {
    // linkLength
    reason: 'Links of a few characters are controls; long ones are titles.',
    gain: 0.1,
    points: [
      ['perlink..8', 0.32],
      ['perlink15..25', -0.12],
      ['perlink25..40', -0.34],
      ['perlink40..80', 0.32],
      ['perlink8..15', 0.48],
    ],
  },
  {
    // prose
    reason: 'Lines of prose are the content of most pages.',
    gain: 0.08,
    points: [
      ['prose..0.001', 0.12],
      ['prose0.001..0.2', -0.21],
      ['prose0.2..0.5', -0.38],
      ['prose0.5..0.8', -0.47],
      ['prose0.8..', -0.39],
    ],
  },
  {
    // proseShare
    reason: 'A block with most of the prose of its page holds the text, even if its name suggests otherwise.',
    gain: -0.04,
    points: [
      ['ps..0.001', 0.12],
      ['ps0.001..0.03', 0.81],
      ['ps0.1..0.3', -0.32],
      ['ps0.6..', -0.44],
    ],
  },
  {
    // length
    reason: 'Short blocks are labels.',
    gain: 0.17,
    points: [
      ['len..8', 1.85],
      ['len1000..4000', -0.2],
      ['len120..300', 0.41],
      ['len4000..', -0.27],
      ['len8..25', 1.92],
    ],
  },
  {
    // share
    reason: 'A block with a large share of the page is not removed lightly.',
    gain: 0.17,
    points: [
      ['share..0.004', 0.73],
      ['share0.004..0.02', 0.55],
      ['share0.08..0.25', 0.25],
      ['share0.25..0.6', -0.25],
      ['share0.6..', -1.03],
    ],
  },
  {
    // marks
    reason: 'Sentences have commas and full stops in every script; labels have none.',
    gain: 0.07,
    points: [
      ['marks..0.001', 0.7],
      ['marks0.001..0.008', 0.3],
      ['marks0.016..0.025', -0.28],
      ['marks0.025..', -0.43],
    ],
  },
  {
    // density
    reason: 'Many small blocks with little text each are lists of labels.',
    gain: 0.01,
    points: [
      ['dense..12', -0.23],
      ['dense25..50', -0.31],
      ['dense50..90', -0.35],
      ['dense90..160', 0.29],
    ],
  },
  {
    // from
    reason: 'Menus come first and footers last.',
    gain: 0.74,
    points: [
      ['from..0.02', -0.52],
      ['from0.02..0.1', -0.18],
      ['from0.1..0.3', -1.04],
      ['from0.3..0.6', -0.67],
      ['from0.6..0.85', 0.55],
      ['from0.85..0.95', 1.47],
      ['from0.95..', 1.55],
    ],
  },
  {
    // title
    reason: 'Blocks before the h1 belong to the site.',
    gain: 0.14,
    points: [
      ['beforeTitle', 2.39],
      ['holdsTitle', -0.65],
    ],
  },
  {
    // afterProse
    reason: 'After the last long line follow related pages and the footer.',
    gain: -0.0,
    points: [['afterProse', -0.3]],
  },
  {
    // duplicate
    reason: 'A repeated text is a menu or a slide for small screens.',
    gain: 0.14,
    points: [['duplicate', 3.54]],
  },
  {
    // holds
    reason: 'Controls, pictures, tables and code inside.',
    gain: 0.07,
    points: [
      ['holdsControl', 0.5],
      ['holdsHeading', -0.56],
      ['holdsPre', -0.49],
      ['holdsTable', -0.64],
      ['image', 0.19],
      ['images3', -0.16],
    ],
  },
  {
    // main
    reason: 'A main element with a fair share of the text marks the content.',
    gain: 0.04,
    points: [['outMain', 0.4]],
  },
  {
    // article
    reason: 'A single article is the content; several are often teasers.',
    gain: -0.01,
    points: [
      ['in1Article', -0.33],
      ['inNArticle', 0.2],
      ['out1Article', 0.23],
      ['outNArticle', 0.23],
    ],
  },
  {
    // core
    reason: 'The smallest element with most of the prose is the centre of the page.',
    gain: 0.12,
    points: [
      ['afterCore', 1.76],
      ['aroundCore', -2.0],
      ['beforeCore', 0.42],
      ['besideCore', 1.25],
      ['deep', -0.37],
      ['deepLinks', -0.29],
    ],
  },
  {
    // headings
    reason: 'Headings that open blocks of links announce related pages, in any language.',
    gain: -0.06,
    points: [
      ['headed', -0.19],
      ['headedItems', -0.21],
      ['headingOfOther', 0.12],
      ['headingOfProse', -0.98],
      ['underHeading', -0.27],
      ['underHeadingLinks', -0.19],
    ],
  },
  {
    // neighbours
    reason: 'Boilerplate is next to boilerplate.',
    gain: 0.16,
    points: [
      ['first', -0.45],
      ['inline', -0.13],
      ['nextLinks', 0.38],
      ['prevProse', 0.67],
    ],
  },
  {
    // repeats
    reason: 'Repeated children are cards, lists or posts.',
    gain: 0.1,
    points: [
      ['aCard', -0.23],
      ['aHeadedItem', -0.84],
      ['aLinkItem', -0.27],
      ['aRepeat', -1.52],
      ['aRepeatProse', -0.46],
      ['cardsLong', 0.16],
      ['linkItems', -0.15],
      ['linkItemsLong', 0.7],
      ['repeatOther', -0.35],
      ['repeatProse', -0.35],
    ],
  },
  NAME_ROW,
];
