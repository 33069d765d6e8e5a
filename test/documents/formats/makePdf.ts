import PDFKit from 'pdfkit';

/** Draws a PDF with PDFKit. */
export async function makePdf(
  draw: (pdf: PDFKit.PDFDocument) => unknown,
  info: PDFKit.DocumentInfo = {},
  security: Pick<PDFKit.PDFDocumentOptions, 'userPassword' | 'ownerPassword'> = {},
): Promise<Uint8Array> {
  const pdf = new PDFKit({ info, ...security });
  const parts: Buffer[] = [];
  pdf.on('data', (part: Buffer) => parts.push(part));
  const ended = new Promise((resolve) => pdf.on('end', resolve));
  draw(pdf);
  pdf.end();
  await ended;
  return Uint8Array.from(Buffer.concat(parts));
}
