import { oneLine } from '../textBuilder.js';

/** Matches default names of sheets in Excel, LibreOffice and libraries, in frequent languages. */
const DEFAULT_NAME =
  /^(?:work)?(?:sheet|tabelle|feuil(?:le)?|hoja|foglio|planilha|folha|blad|arkusz|лист|аркуш|list|sayfa|ark|シート|工作表|시트|ورقة)\s?\d*$/iu;

interface Sheet {
  readonly name: string;
  readonly isHidden: boolean;
}

/**
 * Returns the heading of a sheet; null for the only sheet of a workbook if its name is empty or a default, which has no
 * information.
 */
export function sheetTitle({ name: raw, isHidden }: Sheet, isOnly: boolean): string | null {
  const name = oneLine(raw);
  if (isHidden) return `${name} (hidden)`;
  return isOnly && (name === '' || DEFAULT_NAME.test(name)) ? null : name;
}
