/** Writes a PDF by hand whose lines run from top to bottom, the first at the right, in a font that is not embedded. */
export function verticalPdf(lines: readonly string[]): Uint8Array {
  const utf16 = (text: string): string => Buffer.from(text, 'utf16le').swap16().toString('hex');
  const content = lines.map((text, nth) => `BT /F 20 Tf ${500 - nth * 40} 750 Td <${utf16(text)}> Tj ET`).join('\n');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type0 /BaseFont /Ryumin-Light /Encoding /UniJIS-UTF16-V /DescendantFonts [6 0 R] >>',
    '<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Ryumin-Light /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 5 >> /FontDescriptor 7 0 R >>',
    '<< /Type /FontDescriptor /FontName /Ryumin-Light /Flags 4 /FontBBox [-170 -331 1024 903] /ItalicAngle 0 /Ascent 723 /Descent -241 /CapHeight 709 /StemV 69 >>',
  ];
  let file = '%PDF-1.4\n';
  const offsets = objects.map((object, nth) => {
    const offset = file.length;
    file += `${nth + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  return new TextEncoder().encode(
    `${file}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF`,
  );
}
