import { expect, test } from '@jest/globals';

import { readCues } from '../../../providers/lookups/videoTranscripts/readCues.js';

test('reads cues with or without hours, identifiers and markup; skips styles and notes; accepts CRLF', () => {
  const text = [
    '\uFEFFWEBVTT - captions',
    '',
    'STYLE',
    '::cue { color: red }',
    '',
    'NOTE 00:01 is no time',
    '',
    'first',
    '00:01.500 --> 00:02.000 align:start position:0%',
    '<v Ada>Boats &amp; <b>ropes</b>',
    'lie&nbsp;here &#x; &#39;',
    '',
    '100:00:00.000 --> 100:00:01.250',
    '&lt;end&gt; &amp;#39;',
    '',
    '00:03.000 --> 00:01.000',
    'backwards',
    '',
    '00:03.000 --> 00:04.000',
    '<c></c>',
    '',
    '00:05.000 --> 00:06.000',
    'it&apos;s &#x27;&eacute;t&#233;&#X27; &constructor; &toString; &lrm;&am&#112;',
  ].join('\r\n');
  expect(readCues(text)).toEqual([
    { text: "Boats & ropes lie here &#x; '", start: 1.5, duration: 0.5 },
    { text: '<end> &#39;', start: 360_000, duration: 1.25 },
    { text: 'backwards', start: 3, duration: 0 },
    { text: "it's 'été' &constructor; &toString; &amp", start: 5, duration: 1 },
  ]);
});

test('returns null for a text that does not begin as WebVTT', () => {
  for (const text of ['', 'WEBVTTX\n', '{"error":"a"}', '<!doctype html>']) expect(readCues(text)).toBeNull();
  expect(readCues('WEBVTT')).toEqual([]);
});
