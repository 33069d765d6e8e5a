import { strToU8 } from 'fflate';
import { afterAll, expect, test } from '@jest/globals';
import { bookBombs } from '../../support/bookBombs.js';
import {
  archivesForText,
  attributesDocx,
  attributesOf,
  deflatedPdf,
  embeddedArchives,
  flatBomb,
  laughingDocx,
  loopingPdf,
  manyMembers,
  nestedArchives,
  nestedDocx,
  overlappingMembers,
  pdfOf,
  zipOf,
} from '../../support/makeBombs.js';
import { officeFile } from '../../documents/formats/officeFile.js';
import { LIMITS } from '../../documents/page.js';
import { faultOfFile, upload } from '../../documents/readFile.js';
import { isFault } from '../../support/faultOf.js';
import { isThorough } from '../../support/thorough.js';
import { loadDocumentPool } from '../../support/product.js';

const { createDocumentPool } = await loadDocumentPool();

const SETTINGS = { processes: 1, timeoutMs: 20_000, memoryMb: 400 };
/** With the default of ten million cells, reading a sheet up to the limit takes seconds. */
const limits = isThorough() ? LIMITS : { ...LIMITS, maxCells: 1_000_000 };
const pool = createDocumentPool({ threads: 1, timeoutMs: 20_000, memoryMb: 256, limits, files: SETTINGS });
afterAll(() => pool.close());

const CHUNKING = { chunkSize: 200, chunkOverlap: 20, prefix: null };

/**
 * Returns the Fault that the file ends with, as `kind: message`, or the start of its text. Expects the next file to be
 * read.
 */
async function outcomeOf(bytes: string | Uint8Array, name: string): Promise<string> {
  const outcome = await pool.process(upload(bytes, name), CHUNKING).then(
    ({ text }) => `read: ${text.slice(0, 100)}`,
    (error: unknown) => {
      if (!isFault(error)) throw error;
      return `${error.kind}: ${error.message}`;
    },
  );
  expect((await pool.process(upload('A good file.', 'good.txt'), CHUNKING)).text).toBe('A good file.');
  return outcome;
}

test('refuses a member of 50 MB by its compression ratio, or while unpacking if its stated size is false', async () => {
  expect(await outcomeOf(flatBomb(50_000_000), 'a.docx')).toMatch(/^too_large: .*MAX_UNPACK_RATIO/);
  expect(await outcomeOf(flatBomb(50_000_000, 900_000), 'a.docx')).toMatch(/^broken_content: /);
});

test('limits the total unpacked size of many small members', async () => {
  const part = strToU8(`<sld>${'<p/>'.repeat(10_000)}</sld>`);
  const names = Array.from({ length: 8 }, (_, nth) => `ppt/slides/slide${nth}.xml`);
  const rels = `<Relationships>${names.map((_, nth) => `<Relationship Id="r${nth}" Type="x/slide" Target="slides/slide${nth}.xml"/>`).join('')}</Relationships>`;
  const bytes = officeFile(
    'ppt/presentation.xml',
    `<p>${names.map((_, nth) => `<sldId r:id="r${nth}"/>`).join('')}</p>`,
    { 'ppt/_rels/presentation.xml.rels': strToU8(rels), ...Object.fromEntries(names.map((name) => [name, part])) },
  );
  const fault = await faultOfFile(bytes, 'a.pptx', { maxUnpackedBytes: 200_000 });
  expect(fault).toMatch(/^too_large: .*200000 bytes \(setting MAX_UNPACKED_BYTES\)/);
});

test('refuses members that share their bytes', async () => {
  expect(await outcomeOf(overlappingMembers(), 'a.docx')).toMatch(/^broken_content: /);
});

test('refuses sixty thousand members, and a directory that lists more members than exist', async () => {
  expect(await outcomeOf(manyMembers(60_000), 'a.docx')).toMatch(/^too_large: .*60000 members.*MAX_ARCHIVE_ENTRIES/);
  const members = Array.from({ length: 10 }, (_, nth) => ({
    name: `word/${nth}`,
    packed: Buffer.from([3, 0]),
    size: 0,
  }));
  expect(await outcomeOf(zipOf(members, 9000), 'a.docx')).toMatch(/^broken_content: /);
});

test('refuses nested archives that are named as Office files, and reads a letter without unpacking the archives in it', async () => {
  for (const extension of ['docx', 'pptx', 'xlsx', 'xlsm'])
    expect(await outcomeOf(nestedArchives(3, 1_000_000), `a.${extension}`)).toMatch(
      /^unsupported_type: .*an archive of other files, the first of them 0\.zip\. Unpack it/,
    );
  expect(await outcomeOf(archivesForText(3, 1_000_000), 'a.docx')).toMatch(/^broken_content: /);
  // The text is read: an archive that is not unpacked is harmless, and workbooks embedded in a letter are archives too.
  expect(await outcomeOf(embeddedArchives(3, 1_000_000), 'a.docx')).toBe('read: Words of the letter.');
});

test('refuses an XML bomb of nested entities (billion laughs)', async () => {
  expect(await outcomeOf(laughingDocx(), 'a.docx')).toMatch(/^broken_content: .*document type/);
  const outside = '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><document><p><r><t>&f;</t></r></p></document>';
  expect(await outcomeOf(officeFile('word/document.xml', outside), 'a.docx')).toMatch(/^broken_content: /);
});

test('refuses 60,000 nested elements and 12,000 attributes in Office files and in HTML', async () => {
  expect(await outcomeOf(nestedDocx(60_000), 'a.docx')).toMatch(/^too_large: .*MAX_ELEMENT_DEPTH/);
  expect(await outcomeOf(attributesDocx(12_000), 'a.docx')).toMatch(/^too_large: .*MAX_ELEMENT_ATTRIBUTES/);
  const deep = `<!doctype html><p>words ${'<div>'.repeat(60_000)}deep`;
  expect(await outcomeOf(deep, 'a.html')).toMatch(/^too_large: .*MAX_HTML_DEPTH/);
  const wide = `<!doctype html><p ${attributesOf(12_000)}>words`;
  expect(await outcomeOf(wide, 'a.html')).toMatch(/^too_large: .*MAX_HTML_ATTRIBUTES/);
  const mail = `From: a@example.org\r\nContent-Type: text/html\r\n\r\n${deep}`;
  expect(await outcomeOf(mail, 'a.eml')).toMatch(/^too_large: .*MAX_HTML_DEPTH/);
});

test.each(bookBombs(50_000_000).map((bomb) => [bomb.what, bomb] as const))('%s', async (_what, bomb) => {
  const outcome = await outcomeOf(bomb.content(), bomb.name);
  const [start = '', message = ''] = outcome.split(/: (.*)/s);
  expect([start === 'read' ? 'READY' : 'SYNC_ERROR', message]).toEqual([
    bomb.status,
    expect.stringMatching(bomb.message),
  ]);
});

// The process may use 400 MB.
test('stops reading a PDF whose stream unpacks to 450 MB, at the memory or time limit of its process', async () => {
  const bytes = deflatedPdf(450_000_000);
  expect(bytes.length).toBeLessThan(200_000);
  expect(await outcomeOf(bytes, 'a.pdf')).toMatch(/^parse_limit: .*(?:PARSE_FILE_MEMORY_MB|PARSE_FILE_TIMEOUT_MS)/);
});

test('stops reading a PDF with page loops or a false page count', async () => {
  expect(await outcomeOf(loopingPdf(), 'a.pdf')).toMatch(/^(?:broken_content|no_text): /);
  const many = pdfOf('<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [] /Count 2000000000 >>');
  expect(await outcomeOf(many, 'a.pdf')).toMatch(/^(?:broken_content|no_text|too_large): /);
});

test('stops reading a PDF whose cross-reference table refers to itself', async () => {
  const head =
    '%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [] /Count 0 >>\nendobj\n';
  const at = head.length;
  const table = `xref\n0 1\n0000000000 65535 f \ntrailer\n<< /Size 3 /Root 1 0 R /Prev ${at} >>\nstartxref\n${at}\n%%EOF`;
  expect(await outcomeOf(head + table, 'a.pdf')).toMatch(/^(?:broken_content|no_text): /);
});

test('stops reading a table of one line of 200 MB', async () => {
  const line = Buffer.alloc(195_000_000, 'a,b"c ');
  expect(await outcomeOf(Uint8Array.from(line), 'a.csv')).toMatch(/^(?:too_large|parse_limit): .*\(setting [A-Z_]+/);
});

test('refuses a sheet with 20,000 cells in its last column, spread over a million rows', async () => {
  const rows = Array.from(
    { length: 20_000 },
    (_, nth) => `<row r="${nth * 50 + 1}"><c r="XFD${nth * 50 + 1}"><v>1</v></c></row>`,
  );
  const bytes = officeFile('xl/workbook.xml', '<workbook><sheets><sheet name="S" r:id="r1"/></sheets></workbook>', {
    'xl/_rels/workbook.xml.rels': strToU8(
      '<Relationships><Relationship Id="r1" Type="x/worksheet" Target="sheet.xml"/></Relationships>',
    ),
    'xl/sheet.xml': strToU8(`<worksheet><sheetData>${rows.join('')}</sheetData></worksheet>`),
  });
  expect(await outcomeOf(bytes, 'a.xlsx')).toMatch(/^too_large: .*MAX_TABLE_CELLS/);
});

test('refuses JSON of a million brackets', async () => {
  expect(await outcomeOf('['.repeat(1_000_000), 'a.json')).toMatch(/^(?:broken_content|too_large|parse_limit): /);
  const nested = `${'['.repeat(400_000)}1${']'.repeat(400_000)}`;
  expect(await outcomeOf(nested, 'a.json')).toMatch(/^(?:broken_content|too_large|parse_limit): /);
});
