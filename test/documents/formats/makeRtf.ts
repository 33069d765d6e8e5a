/** What of jsRTF is used here; it comes without types. */
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

/** It puts a `replaceAll` of its own, which knows no regular expressions, in the place of JavaScript's. */
async function loadJsRtf(): Promise<RtfLibrary> {
  const { replaceAll } = String.prototype;
  try {
    // @ts-expect-error: it comes without types
    const library = (await import('jsrtf')) as { readonly default: RtfLibrary };
    return library.default;
  } finally {
    Object.defineProperty(String.prototype, 'replaceAll', { value: replaceAll, writable: true, configurable: true });
  }
}

/** An RTF document that jsRTF writes: paragraphs, and tables as lists of rows. */
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
