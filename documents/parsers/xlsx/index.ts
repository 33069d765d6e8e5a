import { Fault } from '../../../contract/failures.js';
import { mimeTypeOf } from '../../../contract/files/fileFormats.js';
import { countUnread } from '../../office/countUnread.js';
import { openPackage, type Package, type Relation } from '../../office/openPackage.js';
import { readXml } from '../../office/readXml.js';
import { CellBudget, TableWriter } from '../../tables/tableWriter.js';
import { sheetTitle } from '../../tables/sheetTitle.js';
import { TextBuilder } from '../../textBuilder.js';
import type { DocumentLimits, ParsedDocument, Parser } from '../../types.js';
import { readNumberFormats } from '../../office/numberFormats.js';
import { readNotes, readPeople } from './readNotes.js';
import { readSheet, readStrings, type Workbook } from './readSheet.js';

/** Parses the rows, text boxes, charts and comments of all sheets; sheets get their names as headings. */
export const xlsxParser: Parser = { parse: async ({ bytes }, limits) => readWorkbook(bytes, limits, 'XLSX') };
/** Parses a workbook with macros, which are neither run nor read. */
export const xlsmParser: Parser = { parse: async ({ bytes }, limits) => readWorkbook(bytes, limits, 'XLSM') };

async function readWorkbook(
  bytes: Uint8Array,
  limits: DocumentLimits,
  format: 'XLSX' | 'XLSM',
): Promise<ParsedDocument> {
  const file = await openPackage(bytes, limits);
  const relations = await file.relationsOf(file.main);
  const sheets: { name: string; member: string; isHidden: boolean }[] = [];
  let date1904 = false;
  readXml(await file.archive.read(file.main), limits, {
    open(element, attributes) {
      if (element === 'workbookPr') date1904 = /^(?:1|true)$/.test(attributes['date1904'] ?? '');
      const member = relations.get(attributes['r:id'] ?? '')?.target;
      if (element === 'sheet' && member !== undefined && file.archive.has(member)) {
        const isHidden = /hidden$/i.test(attributes['state'] ?? '');
        sheets.push({ name: attributes['name'] ?? '', member, isHidden });
      }
    },
  });
  const { people, ...shared } = await readShared(file, relations, limits);
  const workbook: Workbook = { ...shared, date1904 };
  const writer = new TextBuilder(limits.maxTextCharacters);
  const items: number[] = [];
  const cells = new CellBudget(limits.maxCells);
  let rows = 0;
  for (const { member, ...sheet } of sheets) {
    const table = new TableWriter(writer, items, cells, sheetTitle(sheet, sheets.length === 1));
    readSheet(await file.archive.read(member), workbook, limits, {
      row: (row, isMerged) => table.add(row, isMerged),
      gap: () => table.addGap(),
    });
    rows += table.finish();
    for (const note of await readNotes(file, member, people, limits)) table.addNote(note);
  }
  const text = writer.toString();
  if (text === '') throw new Fault('no_text', 'There are no values in the workbook: all of its sheets are empty.');
  const hidden = sheets.filter(({ isHidden }) => isHidden).map(({ name }) => name);
  const notRead = countUnread(file);
  return {
    text,
    format,
    mimeType: mimeTypeOf(format),
    metadata: {
      ...file.metadata,
      sheets: sheets.map(({ name }) => name).slice(0, MAX_NAMES),
      ...(hidden.length > 0 ? { hidden_sheets: hidden.slice(0, MAX_NAMES) } : {}),
      rows,
    },
    ...(file.created === null ? {} : { sourceCreatedAt: file.created }),
    ...(notRead ? { notRead } : {}),
    items,
  };
}

/** Maximum number of names of sheets in the metadata. */
const MAX_NAMES = 1000;

async function readShared(
  { archive }: Package,
  relations: ReadonlyMap<string, Relation>,
  limits: DocumentLimits,
): Promise<Omit<Workbook, 'date1904'> & { readonly people: ReadonlyMap<string, string> }> {
  const memberOf = (type: string): string | null => {
    const target = [...relations.values()].find((relation) => relation.type === type)?.target;
    return target !== undefined && archive.has(target) ? target : null;
  };
  const [strings, styles, people] = [memberOf('sharedStrings'), memberOf('styles'), memberOf('person')];
  return {
    strings: strings === null ? [] : readStrings(await archive.read(strings), limits),
    formats: styles === null ? [] : readNumberFormats(await archive.read(styles), limits),
    people: people === null ? new Map() : readPeople(await archive.read(people), limits),
  };
}
