/** Pages of the generated site: equal in every run, and different from each other. */

export const PAGE_BYTES = 32 * 1024;

/** Words of one or two tokens, frequent ones first. */
const WORDS =
  `the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which one
  you were all her she there would their we him been has when who will more no if out so said what up its about into
  than them can only other new some could time these two may then do first any my now such like our over man me even
  most made after also did many before must through years where much your way well down should because each just those
  people how too little state good very make world still own see men work long get here between both life being under
  never day same another know while last might us great old year off come since against go came right used take three
  server request worker queue message storage index vector document network latency schedule database transaction
  replica cluster timeout retry gateway certificate permission account invoice refund payment customer delivery
  warehouse shipment catalogue inventory supplier contract agreement policy regulation insurance temperature pressure
  turbine generator transformer substation voltage frequency reservoir aqueduct harbour lighthouse railway locomotive
  telescope observatory spectrum galaxy laboratory experiment hypothesis measurement calibration microscope bacterium
  orchard harvest irrigation fertiliser beekeeping glacier sediment limestone volcano earthquake migration archipelago
  manuscript translation grammar dialect alphabet printing parliament constitution election municipality architecture
  cathedral orchestra violin composition rehearsal exhibition pottery porcelain textile embroidery photography`
    .split(/\s+/)
    .filter(Boolean);

const NAMES = [
  'Okonkwo-Hale',
  'Lindqvist',
  'Tanabe',
  'Ferreira',
  'Wojciechowski',
  'Ashgrove',
  'Montpellier',
  'Karlsruhe',
  'Nairobi',
  'Valparaíso',
  'HX-220b',
  'qz_fetch_rows()',
  'v4.18.2',
  'ISO 9001',
];

type Random = () => number;

/** Returns a pseudo-random generator of numbers in [0, 1) for a seed (mulberry32). */
function randomOf(seed: number): Random {
  let state = (seed * 2_654_435_761) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const between = (random: Random, low: number, high: number): number => low + Math.floor(random() * (high - low + 1));
const joined = (count: number, make: (index: number) => string, separator = ' '): string =>
  Array.from({ length: count }, (_, index) => make(index)).join(separator);

function word(random: Random): string {
  const kind = random();
  if (kind < 0.02) return NAMES[Math.floor(random() * NAMES.length)] ?? '';
  if (kind < 0.05) return String(between(random, 2, 98_000));
  // The square makes early words far more frequent than late ones.
  return WORDS[Math.floor(random() ** 2 * WORDS.length)] ?? 'the';
}

function words(random: Random, count: number): string {
  const text = joined(count, () => word(random));
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function sentence(random: Random): string {
  const comma = random() < 0.5 ? `, ${joined(between(random, 3, 9), () => word(random))}` : '';
  return `${words(random, between(random, 6, 16))}${comma}.`;
}

function paragraph(random: Random): string {
  const kind = random();
  const extra =
    kind < 0.3
      ? ` See <a class="doc-link" href="/pages/${between(random, 0, 999)}.html">${words(random, 3)}</a> for more.`
      : kind < 0.5
        ? ` Call <code>${word(random)}_${word(random)}</code> &amp; wait for <em>${word(random)}</em>.`
        : '';
  return `<p class="doc-text">${joined(between(random, 3, 6), () => sentence(random))}${extra}</p>`;
}

const list = (random: Random): string =>
  `<ul class="doc-list">${joined(between(random, 3, 7), () => `<li><strong>${words(random, 2)}</strong>: ${sentence(random)}</li>`, '')}</ul>`;

const table = (random: Random): string =>
  `<table class="doc-table"><thead><tr><th>Name</th><th>Unit</th><th>Value</th></tr></thead><tbody>${joined(
    between(random, 4, 9),
    () =>
      `<tr><td>${words(random, 2)}</td><td>${word(random)}</td><td class="num">${between(random, 1, 99_999)}</td></tr>`,
    '',
  )}</tbody></table>`;

const code = (random: Random): string =>
  `<pre class="doc-code"><code>${joined(
    between(random, 4, 9),
    (line) => `const value${line} = await ${word(random)}.${word(random)}({ limit: ${between(random, 1, 500)} });`,
    '\n',
  )}</code></pre>`;

function section(random: Random, number: number): string {
  const kind = random();
  const special = kind < 0.3 ? list(random) : kind < 0.45 ? table(random) : kind < 0.6 ? code(random) : '';
  return `<section id="s${number}"><h2>${words(random, between(random, 2, 5))}</h2>
${joined(between(random, 2, 4), () => paragraph(random), '\n')}
${special}</section>\n`;
}

const STYLE = joined(
  28,
  (index) => `.c${index}{display:flex;margin:${index}px auto;color:#2${index % 10}3b4c;padding:0 ${index + 2}px}`,
  '\n',
);
const SCRIPT = joined(14, (index) => `window.__q=window.__q||[];__q.push(["event",${index},{"a":"<p>no text</p>"}]);`);
const NAVIGATION = joined(
  36,
  (index) => `<li class="nav-item"><a class="nav-link" href="/topics/${index}.html">Topic ${index}</a></li>`,
  '\n',
);
const FOOTER = joined(
  24,
  (index) => `<li><a class="foot-link" href="/about/${index}.html">Company page ${index}</a></li>`,
  '\n',
);

/** Returns page `number`: exactly PAGE_BYTES of HTML, with navigation, styles and footer as on a documentation site. */
export function makePage(number: number): string {
  const random = randomOf(number + 1);
  const title = words(random, 5);
  const head = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title} (${number})</title>
<meta name="description" content="${words(random, 14)}"><link rel="stylesheet" href="/main.css">
<style>${STYLE}</style><script>${SCRIPT}</script>
<script type="application/ld+json">{"@context":"https://schema.org","@type":"TechArticle","headline":"${title}"}</script>
</head><body class="c1 c2"><header class="top"><a href="/">Example docs</a></header>
<nav class="side"><ul>
${NAVIGATION}
</ul></nav><main class="content"><article><h1>${title}</h1>
`;
  const tail = `</article></main><footer class="bottom"><ul>
${FOOTER}
</ul><p>All rights reserved.</p></footer></body></html>`;
  const pad = '<!---->';
  const room = PAGE_BYTES - Buffer.byteLength(head) - Buffer.byteLength(tail) - pad.length;
  let body = '';
  let bytes = 0;
  for (let index = 0; ; index += 1) {
    const next = section(random, index);
    const size = Buffer.byteLength(next);
    // Fill the remaining space with single paragraphs, and the last bytes with a comment.
    const piece = bytes + size <= room ? next : `${paragraph(random)}\n`;
    if (bytes + Buffer.byteLength(piece) > room) break;
    body += piece;
    bytes += Buffer.byteLength(piece);
  }
  return `${head}${body}${tail.replace('<footer', `<!--${'x'.repeat(room - bytes)}--><footer`)}`;
}
