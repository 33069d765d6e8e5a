/** OpenDocument and EPUB files that would crash a parser without limits. They are generated in each run. */
import { strToU8, type Zippable } from 'fflate';
import { deflateRawSync } from 'node:zlib';

import { epubFile } from '../documents/formats/epubFile.js';
import { odfFile, type OdfKind } from '../documents/formats/odfFile.js';
import { attributesOf, LAUGHS, manyMembers, packedZeros, zipOf } from './makeBombs.js';

const WORDS = 'Words of the letter.';
const PAGE = { href: 'a.xhtml', body: `<p>${WORDS}</p>` };
const CONTAINER =
  '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="a.opf"/></rootfiles></container>';
const PACKAGE =
  '<package><manifest><item id="p" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="p"/></spine></package>';

/** A member name that points outside the folder into which a program without path checks unpacks the archive. */
const OUTSIDE = '../../../../../../tmp/allotrope-escaped';

/** A file whose text is `size` zero bytes. @param statedSize uncompressed size that the central directory states */
function flatBook(kind: 'odt' | 'epub', size: number, statedSize = size): Uint8Array {
  const packed = (name: string, text: string) => ({ name, packed: deflateRawSync(text), size: text.length });
  const zeros = { packed: packedZeros(size), size: statedSize };
  return kind === 'odt'
    ? zipOf([packed('META-INF/manifest.xml', '<manifest/>'), { name: 'content.xml', ...zeros }])
    : zipOf([packed('META-INF/container.xml', CONTAINER), packed('a.opf', PACKAGE), { name: 'a.xhtml', ...zeros }]);
}

/** An OpenDocument file with this content.xml, stored without compression so that its ratio is small. */
const withContent = (kind: OdfKind, xml: string): Uint8Array =>
  odfFile(kind, { body: '', more: stored('content.xml', xml) });
const withPackage = (xml: string): Uint8Array => epubFile({ pages: [PAGE], more: stored('OPS/book.opf', xml) });
const withPage = (xml: string): Uint8Array => epubFile({ pages: [PAGE], more: stored('OPS/a.xhtml', xml) });
const stored = (name: string, xml: string): Zippable => ({ [name]: [strToU8(xml), { level: 0 }] });

const nestedOdf = (kind: OdfKind, depth: number): Uint8Array =>
  withContent(kind, `<document-content>${'<p>'.repeat(depth)}${'</p>'.repeat(depth)}</document-content>`);
const nestedPackage = (depth: number): Uint8Array =>
  withPackage(`<package>${'<item>'.repeat(depth)}${'</item>'.repeat(depth)}</package>`);
const nestedPage = (depth: number): Uint8Array =>
  withPage(`<html><body><p>${WORDS}</p>${'<div>'.repeat(depth)}far down${'</div>'.repeat(depth)}</body></html>`);

const attributesOdf = (kind: OdfKind, count: number): Uint8Array =>
  withContent(kind, `<document-content><p ${attributesOf(count)}/></document-content>`);
const attributesPackage = (count: number): Uint8Array => withPackage(`<package ${attributesOf(count)}/>`);
const attributesPage = (count: number): Uint8Array =>
  withPage(`<html><body><p ${attributesOf(count)}>${WORDS}</p></body></html>`);

const laughingOdf = (kind: OdfKind): Uint8Array =>
  withContent(
    kind,
    `${LAUGHS}<office:document-content xmlns:office="o" xmlns:text="t"><office:body><office:text><text:p>&l10;</text:p></office:text></office:body></office:document-content>`,
  );
const laughingPackage = (): Uint8Array =>
  withPackage(`${LAUGHS}<package><metadata><title>&l10;</title></metadata></package>`);
const laughingPage = (): Uint8Array => withPage(`${LAUGHS}<html><body><p>${WORDS}</p><p>&l10;</p></body></html>`);

/** An OpenDocument text with a member whose path points outside its folder. */
const escapingOdt = (): Uint8Array =>
  odfFile('text', { body: `<text:p>${WORDS}</text:p>`, more: { [OUTSIDE]: strToU8('x') } });
const escapingEpub = (): Uint8Array => epubFile({ pages: [PAGE], more: { [OUTSIDE]: strToU8('x') } });
/** A book that lists files of the machine as its pages. */
const readingEpub = (): Uint8Array =>
  epubFile({
    pages: [PAGE],
    items: ['../../../../../../etc/passwd', '/etc/passwd', 'file:///etc/passwd']
      .map((href, nth) => `<item id="x${nth}" href="${href}" media-type="application/xhtml+xml"/>`)
      .join(''),
    spine: ['p0', 'x0', 'x1', 'x2'],
  });

/** A text with `count` spaces, written as one element with a count. */
const spacesOdt = (count: number): Uint8Array =>
  odfFile('text', { body: `<text:p>${WORDS}<text:s text:c="${count}"/>End.</text:p>` });
/** A sheet whose only row and cell are repeated `count` times each. */
const repeatedOds = (count: number): Uint8Array =>
  odfFile('spreadsheet', {
    body: `<table:table table:name="s"><table:table-row table:number-rows-repeated="${count}"><table:table-cell table:number-columns-repeated="${count}" office:value-type="string"><text:p>lol</text:p></table:table-cell></table:table-row></table:table>`,
  });
/** A book whose spine names its page `count` times. */
const repeatedEpub = (count: number): Uint8Array =>
  epubFile({ pages: [PAGE], spine: Array.from({ length: count }, () => 'p0') });

/** A file and its final status in the service. */
interface BookBomb {
  readonly what: string;
  readonly name: string;
  readonly content: () => Uint8Array;
  readonly status: 'SYNC_ERROR' | 'READY';
  /** Matches the error message, or the text. */
  readonly message: RegExp;
}

const failing = (what: string, name: string, message: RegExp, content: () => Uint8Array): BookBomb => ({
  what,
  name,
  content,
  status: 'SYNC_ERROR',
  message,
});
const harmless = (what: string, name: string, message: RegExp, content: () => Uint8Array): BookBomb => ({
  ...failing(what, name, message, content),
  status: 'READY',
});

const KINDS = [
  ['odt', 'text'],
  ['ods', 'spreadsheet'],
  ['odp', 'presentation'],
] as const;
/** So many that the archive needs a ZIP64 end record. */
const MEMBERS = 70_000;
/** Just above MAX_HTML_DEPTH, the highest limit. */
const DEPTH = 60_000;
/** Just above MAX_HTML_ATTRIBUTES, the highest limit. */
const ATTRIBUTES = 12_000;
const REPEATED = 2_000_000_000;

/** Returns every bomb with its expected result. @param unpackedBytes unpacked size of the archive bombs */
export const bookBombs = (unpackedBytes: number): readonly BookBomb[] => [
  ...(['odt', 'epub'] as const).flatMap((kind) => [
    failing(`a flat ${kind}`, `flat.${kind}`, /MAX_UNPACK_RATIO/, () => flatBook(kind, unpackedBytes)),
    failing(`a flat ${kind} with a wrong size in its header`, `wrongSize.${kind}`, /parts cannot be unpacked/, () =>
      flatBook(kind, unpackedBytes, 900_000),
    ),
    failing(`${MEMBERS} members of an ${kind}`, `members.${kind}`, /70000 members.*MAX_ARCHIVE_ENTRIES/, () =>
      manyMembers(MEMBERS, 'Pictures'),
    ),
  ]),
  ...KINDS.flatMap(([ending, kind]) => [
    failing(`nested elements of an ${ending}`, `nested.${ending}`, /MAX_ELEMENT_DEPTH/, () => nestedOdf(kind, DEPTH)),
    failing(`attributes of an ${ending}`, `attributes.${ending}`, /MAX_ELEMENT_ATTRIBUTES/, () =>
      attributesOdf(kind, ATTRIBUTES),
    ),
    failing(`a billion laughs in an ${ending}`, `laughs.${ending}`, /document type/, () => laughingOdf(kind)),
  ]),
  failing('nested elements of a package', 'nestedPackage.epub', /MAX_ELEMENT_DEPTH/, () => nestedPackage(DEPTH)),
  failing('nested elements of a page', 'nestedPage.epub', /MAX_HTML_DEPTH/, () => nestedPage(DEPTH)),
  failing('attributes of a package', 'attributesPackage.epub', /MAX_ELEMENT_ATTRIBUTES/, () =>
    attributesPackage(ATTRIBUTES),
  ),
  failing('attributes of a page', 'attributesPage.epub', /MAX_HTML_ATTRIBUTES/, () => attributesPage(ATTRIBUTES)),
  failing('a billion laughs in a package', 'laughsPackage.epub', /undefined entity/, laughingPackage),
  harmless('a billion laughs in a page', 'laughsPage.epub', /^Words of the letter\.\s+&l10;$/, laughingPage),
  failing('an odt with a member outside of its folder', 'escaping.odt', /parts cannot be unpacked/, escapingOdt),
  failing('an epub with a member outside of its folder', 'escaping.epub', /parts cannot be unpacked/, escapingEpub),
  harmless('a book that lists files of the machine', 'reading.epub', /^Words of the letter\.$/, readingEpub),
  harmless('two billion spaces', 'spaces.odt', /^Words of the letter\. End\.$/, () => spacesOdt(REPEATED)),
  failing('two billion rows and cells', 'repeated.ods', /\(setting [A-Z_]+/, () => repeatedOds(REPEATED)),
  failing('a page that its book names 100,000 times', 'repeated.epub', /MAX_UNPACK_RATIO/, () => repeatedEpub(100_000)),
];
