/** The part of jsRTF that tests use. The package has no types. */
interface Rtf {
  writeText(text: string, format: unknown): void;
  addElement(element: unknown): void;
  createDocument(): string;
}
interface RtfLibrary {
  new (): Rtf;
  readonly Format: new (format: Readonly<Record<string, unknown>>) => unknown;
  readonly TableElement: new (options: Readonly<Record<string, unknown>>) => { addRow(cells: readonly string[]): void };
}

/** Loads jsRTF, and restores `String.prototype.replaceAll`: jsRTF replaces it by one without regular expressions. */
async function loadJsRtf(): Promise<RtfLibrary> {
  const { replaceAll } = String.prototype;
  try {
    // @ts-expect-error: the package has no types
    const library = (await import('jsrtf')) as { readonly default: RtfLibrary };
    return library.default;
  } finally {
    Object.defineProperty(String.prototype, 'replaceAll', { value: replaceAll, writable: true, configurable: true });
  }
}

/** Writes an RTF document with jsRTF: paragraphs, and tables given as lists of rows. */
export async function makeRtf(parts: ReadonlyArray<string | readonly (readonly string[])[]>): Promise<string> {
  const Library = await loadJsRtf();
  const document = new Library();
  const paragraph = new Library.Format({ paragraph: true, spaceAfter: 120 });
  for (const part of parts) {
    if (typeof part === 'string') document.writeText(part, paragraph);
    else {
      const table = new Library.TableElement({ format: new Library.Format({ tableWidth: 9000 }) });
      for (const row of part) table.addRow(row);
      document.addElement(table);
    }
  }
  return document.createDocument();
}
