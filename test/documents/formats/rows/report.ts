/** Text of the report in test/fixtures/documents/sources, as read from the Word file that LibreOffice saves. */
const REPORT = `# Harbour report 2024

Anna Keller

# Summary

The harbour of Ballycotton handled 1,284 calls in 2024, eleven more than in the year before. Repairs of the north quay took from March to September and cost 412,000 euros, which is 38,000 below the estimate.[^1] No boat was lost, and no person was hurt.

The council is asked to agree to the fees in section 3 and to the dredging in section 4. Both were discussed with the fishermen’s association in November, which has no objection as long as work rests from April to June.

# Traffic

## Calls by month

Traffic is heaviest in July and August, when pleasure boats make up two thirds of all calls. The storm of 9 February closed the entrance for three days; nine boats went to Cobh instead.

| Quarter | Fishing | Pleasure | Other |
| --- | --- | --- | --- |
| First | 148 | 31 | 22 |
| Second | 171 | 164 | 35 |
| Third | 160 | 329 | 41 |
| Fourth | 119 | 42 | 22 |

## What changed

Three things are new since the last report:

- The fuel berth is open at night, with a card.
- Waste is taken at both quays:
  - oil and filters at the north quay,
  - nets and ropes at the south quay.
- The office answers on channel 14 from six in the morning.

Boats of more than 18 metres still need a pilot. The pilot’s fee is not the harbour’s to set, but we were told that it will not rise before 2026.

# Fees

The fees have been the same since 2019. Costs of water and power have risen by 31 % in that time, and those of insurance by nearly half. We propose the following:

1. Small boats, below eight metres, pay 10 euros a night instead of 8.
2. Larger boats pay 25 euros, as in Kinsale.
3. Boats at home in Ballycotton pay nothing for the first week of each month.

Who pays for a whole year has two months free. This concerned 64 boats in 2024.[^2] The treasurer expects 21,500 euros more a year, of which half is to go into the reserve for the breakwater.

# Dredging

The entrance has lost 40 centimetres of depth in four years. At low water of spring tides only 2.1 metres remain, and the lifeboat draws 1.9. A survey by Hydro Survey Cork shows that some 9,000 cubic metres of sand have to be moved; it names two ways of doing so:

1. A suction dredger, for five weeks, at 186,000 euros.
2. A grab on a barge, for eleven weeks, at 141,000 euros.

We recommend the first. It is dearer, yet it is done before the season begins, and the sand can be pumped to the beach at Garryvoe, whose residents have asked for it since the winter of 2021. The department pays three quarters of either.

The work needs a licence for dumping at sea only if more than a tenth of the sand is mud. Samples were taken at twelve places in October; the results are expected in January. Details are at https://example.org/harbour/dredging.

# Outlook

In 2025 the lights of the south quay will be replaced, and the slipway is to be widened by two metres. The harbour master retires in August; the post will be advertised in the spring. We thank all who helped after the storm, above all the crew of the lifeboat, who moved forty boats in a single night.

[^1]: All sums are without value added tax.

[^2]: In 2023 there were 59 of them.`;

/**
 * Returns the text of the report as a program or format gives it: each `original` is replaced everywhere.
 * @throws Error if an `original` does not occur
 */
export function report(...differences: ReadonlyArray<readonly [original: string, replacement: string]>): string {
  let text = REPORT;
  for (const [original, replacement] of differences) {
    if (!text.includes(original)) throw new Error(`The report does not contain ${original}`);
    text = text.replaceAll(original, replacement);
  }
  return text;
}

/**
 * Beginnings and ends of the report's chunks of at most 200 tokens: headings are in the chunk of their text, and the
 * table is not split.
 */
export const reportChunks = (first: string, last: string) =>
  ({
    size: 200,
    parts: [
      [first, 'nine boats went to Cobh instead.'],
      ['| Quarter |', 'it will not rise before 2026.'],
      ['# Fees\n\nThe fees have been', 'the reserve for the breakwater.'],
      ['# Dredging\n\nThe entrance', 'pays three quarters of either.'],
      ['The work needs a licence', last],
    ],
  }) as const;

/** For formats in which a title is only formatted, not marked as a heading. */
export const PLAIN_TITLE = ['# Harbour report', 'Harbour report'] as const;
