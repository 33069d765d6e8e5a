import { Fault } from '../../../contract/failures.js';
import { sheetTitle } from '../../tables/sheetTitle.js';
import { CellBudget, TableWriter } from '../../tables/tableWriter.js';
import { TextBuilder } from '../../textBuilder.js';
import type { Parser } from '../../types.js';
import { documentOf } from './documentOf.js';
import { openOdf } from './openOdf.js';
import { readObjects } from './readObjects.js';
import { listSheets, readSheets } from './readSheets.js';
import { readStyles } from './readStyles.js';

/** Maximum number of names of sheets in the metadata. */
const MAX_NAMES = 1000;

/**
 * Reads the rows, text boxes, charts and comments of all sheets. The heading of a sheet is its name; an only sheet with
 * an empty or default name has none.
 */
export const odsParser: Parser = {
  async parse({ bytes }, limits) {
    const file = await openOdf(bytes, limits);
    const { charts, unread } = await readObjects(file, limits);
    const styles = readStyles(file.styles === null ? [file.content] : [file.styles, file.content], limits);
    const sheets = listSheets(file.content, styles, limits);
    const writer = new TextBuilder(limits.maxTextCharacters);
    const items: number[] = [];
    const cells = new CellBudget(limits.maxCells);
    let rows = 0;
    let table: TableWriter | null = null;
    readSheets(
      file.content,
      { styles, charts, limits },
      {
        sheet(sheet) {
          table = new TableWriter(writer, items, cells, sheetTitle(sheet, sheets.length === 1));
        },
        row: (row, isMerged) => table?.add(row, isMerged),
        gap: () => table?.addGap(),
        endSheet() {
          rows += table?.finish() ?? 0;
        },
        note: (text) => table?.addNote(text),
      },
    );
    const text = writer.toString();
    if (text === '') throw new Fault('no_text', 'There are no values in the workbook: all of its sheets are empty.');
    const hidden = sheets.filter(({ isHidden }) => isHidden).map(({ name }) => name);
    const facts = {
      sheets: sheets.map(({ name }) => name).slice(0, MAX_NAMES),
      ...(hidden.length > 0 ? { hidden_sheets: hidden.slice(0, MAX_NAMES) } : {}),
      rows,
    };
    return { ...documentOf(file, 'ODS', text, facts, { embedded_files: unread }), items };
  },
};
