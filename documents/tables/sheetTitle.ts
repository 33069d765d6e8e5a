import { oneLine } from '../textBuilder.js';

/** Names that programs give to sheets: Excel, LibreOffice and libraries, in the languages of most users. */
const GIVEN =
  /^(?:work)?(?:sheet|tabelle|feuil(?:le)?|hoja|foglio|planilha|folha|blad|arkusz|лист|аркуш|list|sayfa|ark|シート|工作表|시트|ورقة)\s?\d*$/iu;

interface Sheet {
  readonly name: string;
  readonly isHidden: boolean;
}

/**
 * Returns the heading of a sheet; null if it would say nothing: the only sheet of a workbook often keeps the name that
 * its program gave it.
 */
export function sheetTitle({ name: raw, isHidden }: Sheet, isOnly: boolean): string | null {
  const name = oneLine(raw);
  if (isHidden) return `${name} (hidden)`;
  return isOnly && (name === '' || GIVEN.test(name)) ? null : name;
}
