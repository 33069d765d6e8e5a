/** Reads width and height from the header of a JPEG or PNG without decoding it; null if there is no such header. */
export function imageSize(bytes: Uint8Array): { width: number; height: number } | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    // PNG: eight bytes of signature, then the header chunk.
    if (view.getUint32(0) === 0x89504e47) return { width: view.getUint32(16), height: view.getUint32(20) };
    return jpegSize(view);
  } catch (error) {
    // The file ends inside its header.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function jpegSize(view: DataView): { width: number; height: number } | null {
  for (let at = 2; view.getUint8(at) === 0xff;) {
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    // Markers in the range of frame headers that are not frame headers: Huffman tables, an extension, arithmetic
    // coding.
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    at += 2 + view.getUint16(at + 2);
  }
  return null;
}
