import { Fault } from '../../../contract/failures.js';
import { mimeTypeOf } from '../../../contract/files/fileFormats.js';
import { openPackage, type Package, type Relation } from '../../office/openPackage.js';
import { readXml } from '../../office/readXml.js';
import { CellBudget, TableWriter } from '../../tables/tableWriter.js';
import { TextBuilder } from '../../textBuilder.js';
import type { DocumentLimits, ParsedDocument, Parser } from '../../types.js';
import { readNumberKinds } from './numberFormats.js';
import { readSheet, readStrings, type Workbook } from './readSheet.js';

/** Parses the rows of all sheets; several sheets get their names as headings. */
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
  const sheets: { name: string; member: string }[] = [];
  let date1904 = false;
  readXml(await file.archive.read(file.main), limits, {
    open(element, attributes) {
      if (element === 'workbookPr') date1904 = /^(?:1|true)$/.test(attributes['date1904'] ?? '');
      const member = relations.get(attributes['r:id'] ?? '')?.target;
      if (element === 'sheet' && member !== undefined && file.archive.has(member))
        sheets.push({ name: attributes['name'] ?? '', member });
    },
  });
  const workbook: Workbook = { ...(await readShared(file, relations, limits)), date1904 };
  const writer = new TextBuilder(limits.maxTextCharacters);
  const items: number[] = [];
  const cells = new CellBudget(limits.maxCells);
  let rows = 0;
  for (const { name, member } of sheets) {
    const table = new TableWriter(writer, items, cells, sheets.length > 1 ? name : null);
    readSheet(await file.archive.read(member), workbook, limits, (row) => table.add(row));
    rows += table.finish();
  }
  if (rows === 0) throw new Fault('no_text', 'There are no values in the workbook: all of its sheets are empty.');
  return {
    text: writer.toString(),
    format,
    mimeType: mimeTypeOf(format),
    metadata: { ...file.metadata, sheets: sheets.map(({ name }) => name).slice(0, 1000), rows },
    ...(file.created === null ? {} : { sourceCreatedAt: file.created }),
    items,
  };
}

async function readShared(
  { archive }: Package,
  relations: ReadonlyMap<string, Relation>,
  limits: DocumentLimits,
): Promise<Omit<Workbook, 'date1904'>> {
  const memberOf = (type: string): string | null => {
    const target = [...relations.values()].find((relation) => relation.type === type)?.target;
    return target !== undefined && archive.has(target) ? target : null;
  };
  const [strings, styles] = [memberOf('sharedStrings'), memberOf('styles')];
  return {
    strings: strings === null ? [] : readStrings(await archive.read(strings), limits),
    kinds: styles === null ? [] : readNumberKinds(await archive.read(styles), limits),
  };
}
