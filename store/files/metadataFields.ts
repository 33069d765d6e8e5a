/** Returns the update that merges fields into file_metadata. */
export const metadataFields = (facts: Readonly<Record<string, unknown>> = {}): Record<string, unknown> =>
  Object.fromEntries(Object.entries(facts).map(([name, value]) => [`fileMetadata.${name}`, value]));
