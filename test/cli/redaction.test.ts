/** Tests of the redaction of recordings: what is kept, what is replaced, and the check that finds original words. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';

import { readRecordings, RECORDINGS } from '../../cli/recording/folder.js';
import type { Recording } from '../../cli/recording/fixture.js';
import { findLeaks } from '../../cli/recording/redaction/leaks.js';
import { createPseudonyms } from '../../cli/recording/redaction/pseudonyms.js';
import { redactBody, redactContent, redactHeaders } from '../../cli/recording/redaction/redactBody.js';
import { createTextRedaction } from '../../cli/recording/redaction/redactText.js';
import { vocabularyOf } from '../../cli/recording/redaction/vocabulary.js';
import { CONNECTED_SOURCES, type ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import { everyRow } from '../support/everyRow.js';

const WEEK_MS = 7 * 86_400_000;
const redactionOf = (source: ConnectedSourceType, originals: readonly string[] = [], hosts: readonly string[] = []) =>
  createTextRedaction({
    source,
    vocabulary: vocabularyOf(source),
    pseudonyms: createPseudonyms(new Set(originals)),
    offsetMs: -WEEK_MS,
    hosts: new Set(hosts),
  });
const json = (value: unknown, redaction = redactionOf('GITBOOK')): Record<string, never> =>
  JSON.parse(redactBody(Buffer.from(JSON.stringify(value)), 'application/json', redaction).toString()) as never;

describe('words', () => {
  test('get one pseudonym each, of the same length, kinds of characters and case', () => {
    const { of } = createPseudonyms(new Set());
    for (const word of ['Lighthouse', 'a3f9c0', 'ID42xyz', '123456', 'Маяк', '灯台守', 'μήνας']) {
      const pseudonym = of(word);
      const shape = (text: string): string =>
        text
          .replaceAll(/\d/g, '9')
          .replaceAll(/[a-f]/g, 'a')
          .replaceAll(/[g-z]/g, 'z')
          .replaceAll(/[A-F]/g, 'A')
          .replaceAll(/[G-Z]/g, 'Z');
      expect(pseudonym).not.toBe(word);
      expect(of(word)).toBe(pseudonym);
      expect(of(word.toLowerCase())).toBe(pseudonym.toLowerCase());
      expect([...pseudonym]).toHaveLength([...word].length);
      if (/^\w+$/.test(word)) expect(shape(pseudonym)).toBe(shape(word));
    }
    expect(of('Маяк')).toMatch(/^\p{Script=Cyrillic}+$/u);
    expect(of('灯台守')).toMatch(/^\p{Script=Han}+$/u);
    expect([of('1'), of('12345')]).toEqual(['1', '12345']);
  });

  test('never share a pseudonym', () => {
    const originals = Array.from(
      { length: 26 * 26 },
      (_, at) => `${String.fromCodePoint(97 + (at % 26))}${String.fromCodePoint(97 + Math.floor(at / 26))}`,
    );
    const { of } = createPseudonyms(new Set(['lighthouse']));
    expect(new Set(originals.map(of)).size).toBe(originals.length);
  });

  test('differ between recordings, so that they cannot be looked up', () => {
    expect(createPseudonyms(new Set()).of('lighthouse')).not.toBe(createPseudonyms(new Set()).of('lighthouse'));
  });
});

describe('JSON', () => {
  test('keeps terms of the API, and replaces all other names and values', () => {
    const shown = json({
      id: 'sp-lantern',
      type: 'document',
      title: 'Lantern and sp-lantern',
      secretField: 'document type',
    });
    expect(Object.keys(shown).slice(0, 3)).toEqual(['id', 'type', 'title']);
    expect(shown['type']).toBe('document');
    expect(JSON.stringify(shown)).not.toMatch(/lantern|secret|field|and|document type/i);
    const [, lantern] = String(shown['id']).split('-');
    expect(String(shown['title']).toLowerCase().startsWith(lantern!)).toBe(true);
    expect(String(shown['title']).endsWith(String(shown['id']))).toBe(true);
  });

  test('shifts times by one offset, also as numbers, and keeps small numbers', () => {
    const shown = json({
      ...{ createdAt: '2026-03-08T09:10:11.123Z', updatedAt: 1_772_961_011, size: 1234, title: 'On 2026-03-08' },
      organization: 987_654_321,
    });
    expect(shown).toMatchObject({ createdAt: '2026-03-01T09:10:11.123Z', updatedAt: 1_772_356_211 });
    expect(String(shown['title'])).toMatch(/^\w\w 2026-03-01$/);
    expect(Object.values(shown)).toContain(1234);
    expect(shown['organization']).not.toBe(987_654_321);
    expect(String(shown['organization'])).toMatch(/^\d{9}$/);
  });

  test('keeps integers exact that a number cannot represent', () => {
    const shown = redactBody(
      Buffer.from('{"id":12345678901234567890}'),
      'application/json',
      redactionOf('GITBOOK'),
    ).toString();
    expect(shown).toMatch(/^\{"id":[1-9]\d{19}\}$/);
    expect(shown).not.toContain('12345678901234567890');
  });

  test('redacts content in base64', () => {
    const raw = Buffer.from('From: ada@harbour.example\r\n\r\nThe lantern burns.').toString('base64url');
    const decoded = Buffer.from(String(json({ raw }, redactionOf('GMAIL'))['raw']), 'base64url').toString();
    expect(decoded).toMatch(/^\w{4}: \w{3}@[\w.]+\.example\.com\r\n\r\n\w{3} \w{7} \w{5}\.$/);
    expect(decoded).not.toMatch(/lantern|harbour/);
  });
});

describe('addresses', () => {
  test('keep hosts, paths and parameters of the API, and replace those of the account', () => {
    const { value } = redactionOf('ZENDESK');
    const shown = value('https://lantern.zendesk.com/api/v2/tickets/9876543.json?page=2&secretName=lantern');
    expect(shown).toMatch(
      /^https:\/\/[g-z][a-f][a-z]{5}\.zendesk\.com\/api\/v2\/tickets\/\d{7}\.json\?page=2&\w{10}=\w{7}$/,
    );
    expect(shown).not.toMatch(/lantern|secret|9876543/);
    expect(value('https://files.lantern.org/a')).toMatch(/^https:\/\/\w{5}\.\w{7}\.example\.com\/\w$/);
  });

  test('have a host replaced by the same pseudonym as elsewhere in the recording', () => {
    const { value, url } = redactionOf('SHAREPOINT', [], ['files.lantern.org']);
    const host = url('https://files.lantern.org/').split('/')[2];
    expect(value('files.lantern.org,42')).toBe(`${host},42`);
  });
});

test('markup keeps known elements; texts, attributes, comments and numeric entities are replaced or removed', () => {
  const html = '<p class="lantern">The <b>lantern</b> &amp; &#108;<x-lantern a="b"/></p><!-- lantern -->';
  const shown = redactContent(Buffer.from(html), redactionOf('CONFLUENCE')).toString();
  expect(shown).toMatch(/^<p class="\w{7}">\w{3} <b>\w{7}<\/b> &amp; &#120;<\w-\w{7} a="\w+"\/><\/p><!-- -->$/);
  expect(shown).not.toContain('lantern');
});

test('content that is not UTF-8 text becomes zeros', () => {
  const bytes = Buffer.from([0x25, 0x50, 0x44, 0x46, 0xff, 0xfe, 0x00]);
  expect(redactContent(bytes, redactionOf('S3')).equals(Buffer.alloc(7))).toBe(true);
});

test('headers are kept by an allow list', () => {
  const headers = {
    ...{ 'content-type': 'application/json', 'set-cookie': 'session=lantern', authorization: 'Bearer lantern' },
    ...{ link: '<https://api.gitbook.com/v1/x?page=lantern>; rel="next"; title="Lantern"', 'x-request-id': 'lantern' },
    ...{ 'x-ratelimit-remaining': '5', 'retry-after': '10' },
  };
  const shown = redactHeaders(headers, redactionOf('GITBOOK'));
  expect(Object.keys(shown)).toEqual(['content-type', 'link']);
  expect(shown['link']).toMatch(/^<https:\/\/api\.gitbook\.com\/v1\/\w\?page=\w{7}>; rel="next"$/);
});

describe('the check of a recording', () => {
  const [sample] = [...readRecordings(RECORDINGS).values()];
  const leaksWith = (planted: string): string[] => {
    const recording = structuredClone(sample) as Recording;
    (recording.steps[0]!.exchanges[0]!.response.body as { json: Record<string, unknown> }).json['title'] = planted;
    const originals = new Set(['lantern', createHash('md5').update('x').digest('hex')]);
    return findLeaks(recording, originals, redactionOf('GITBOOK'));
  };

  test('finds no original word in a redacted one', () => expect(leaksWith('Qwerty')).toEqual([]));

  test.each([
    ['as it is', 'A Lantern here'],
    ['encoded in an address', 'https://x.example.com/%6Cantern'],
    ['in base64', Buffer.from('there is a lantern in this text').toString('base64')],
  ])('finds an original word %s', (_how, planted) => expect(leaksWith(planted)).toHaveLength(1));
});

test('the vocabulary of each source contains terms of its API, and no words of the test accounts', () =>
  everyRow(Object.keys(CONNECTED_SOURCES) as ConnectedSourceType[], String, (source) => {
    const { values, names } = vocabularyOf(source);
    expect(values.size).toBeGreaterThan(100);
    expect(names.has('id') || names.has('Id') || names.has('Key') || names.has('Name')).toBe(true);
    for (const word of ['lantern', 'Ada', 'Lighthouse', 'harbour']) expect(values.has(word)).toBe(false);
  }));
