import { oneLine } from '../textBuilder.js';

/** Default names of sheets: Excel, LibreOffice and libraries, in the languages of most users. */
const GIVEN =
  /^(?:work)?(?:sheet|tabelle|feuil(?:le)?|hoja|foglio|planilha|folha|blad|arkusz|лист|аркуш|list|sayfa|ark|シート|工作表|시트|ورقة)\s?\d*$/iu;

interface Sheet {
  readonly name: string;
  readonly isHidden: boolean;
}

/**
 * Returns the heading of a sheet; null if it has no information: the only sheet of a workbook often has the program's
 * default name.
 */
export function sheetTitle({ name: raw, isHidden }: Sheet, isOnly: boolean): string | null {
  const name = oneLine(raw);
  if (isHidden) return `${name} (hidden)`;
  return isOnly && (name === '' || GIVEN.test(name)) ? null : name;
}
