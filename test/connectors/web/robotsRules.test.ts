import { describe, expect, test } from '@jest/globals';

import { everyRow } from '../../support/everyRow.js';
import { parseRobots, productTokenOf } from '../../../connectors/web/robotsRules.js';

const allows = (robots: string, path: string, token = 'allotrope') => parseRobots(robots, token).allows(path);

describe('the deciding rule', () => {
  const DECIDED: readonly (readonly [string, string, string, boolean])[] = [
    ['no rules', '', '/x', true],
    ['a prefix', 'User-agent: *\nDisallow: /a', '/a/b', false],
    ['a match inside the path', 'User-agent: *\nDisallow: /a', '/b/a', true],
    ['the case of a path', 'User-agent: *\nDisallow: /A', '/a', true],
    ['an empty Disallow', 'User-agent: *\nDisallow:', '/x', true],
    ['the longest rule', 'User-agent: *\nDisallow: /a\nAllow: /a/b', '/a/b/c', true],
    ['the longest rule in another order', 'User-agent: *\nAllow: /a/b\nDisallow: /a', '/a/b/c', true],
    ['the longest rule as Disallow', 'User-agent: *\nAllow: /a\nDisallow: /a/b', '/a/b/c', false],
    ['Allow before an equal Disallow', 'User-agent: *\nDisallow: /a\nAllow: /a', '/a', true],
    ['a wildcard', 'User-agent: *\nDisallow: /*.pdf', '/x/y.pdf?z', false],
    ['a wildcard and an end that does not match', 'User-agent: *\nDisallow: /*.pdf$', '/x/y.pdf?z', true],
    ['a wildcard and a matching end', 'User-agent: *\nDisallow: /*.pdf$', '/a.pdf.pdf', false],
    ['an end that does not match', 'User-agent: *\nDisallow: /a$', '/a/', true],
    ['a matching end', 'User-agent: *\nDisallow: /a$', '/a', false],
    ['parts that would overlap', 'User-agent: *\nDisallow: /ab*ba$', '/aba', true],
    ['several wildcards', 'User-agent: *\nDisallow: /a**b*c', '/axxbyyc', false],
    ['a wildcard as part of the length', 'User-agent: *\nDisallow: /page*\nAllow: /page', '/page1', false],
    ['a query', 'User-agent: *\nDisallow: /*?sid=', '/x?sid=1', false],
    ['a literal dollar inside', 'User-agent: *\nDisallow: /a$b', '/a$b', false],
    ['an encoded star as a literal', 'User-agent: *\nDisallow: /a-%2A.html', '/a-*.html', false],
    ['an encoded star that is not a wildcard', 'User-agent: *\nDisallow: /a-%2A.html', '/a-x.html', true],
    ['an encoded dollar as a literal', 'User-agent: *\nDisallow: /a%24', '/a$b', false],
    ['unnecessary encoding in the rule', 'User-agent: *\nDisallow: /foo/bar/%62%61%7A', '/foo/bar/baz', false],
    ['unnecessary encoding in the path', 'User-agent: *\nDisallow: /foo/bar/baz', '/foo/bar/%62%61%7A', false],
    ['characters beyond ASCII', 'User-agent: *\nDisallow: /föö/ツ', '/f%C3%B6%c3%b6/%E3%83%84', false],
    ['an encoded slash', 'User-agent: *\nDisallow: /a%2Fb', '/a/b', true],
    ['a rule without a leading slash', 'User-agent: *\nDisallow: a', '/abc', false],
    ['robots.txt itself', 'User-agent: *\nDisallow: /', '/robots.txt', true],
    ['comments and blanks', '  user-AGENT :  *  # all\n\n\tDISALLOW\t:/a#b', '/a', false],
    ['line ends of several kinds', 'User-agent: *\r\nDisallow: /a\rDisallow: /b', '/b', false],
    ['rules before any agent', 'Disallow: /\nUser-agent: other\nDisallow: /x', '/x', true],
  ];
  test('is the longest match', () =>
    everyRow(
      DECIDED,
      ([name]) => name,
      ([, robots, path, expected]) => expect(allows(robots, path)).toBe(expected),
    ));
});

describe('the applicable group', () => {
  const GROUPS: readonly (readonly [string, string, boolean])[] = [
    [
      'our group before the group of all agents',
      'User-agent: *\nDisallow: /\n\nUser-agent: Allotrope\nDisallow: /x',
      true,
    ],
    ['the group of all agents without our group', 'User-agent: other\nAllow: /\n\nUser-agent: *\nDisallow: /', false],
    ['another case', 'User-agent: ALLOTROPE\nDisallow: /', false],
    ['a version after our name', 'User-agent: Allotrope/1.0\nDisallow: /', false],
    ['a longer name', 'User-agent: AllotropeImages\nDisallow: /', true],
    ['a shorter name', 'User-agent: Allo\nDisallow: /', true],
    ['several agents of one group', 'User-agent: a\nUser-agent: allotrope\nUser-agent: b\nDisallow: /', false],
    [
      'two merged groups of our name',
      'User-agent: allotrope\nDisallow: /\nUser-agent: b\nAllow: /\nUser-agent: allotrope\nAllow: /q',
      false,
    ],
    [
      'a Sitemap line within a group',
      'User-agent: allotrope\nSitemap: https://site.example/s.xml\nUser-agent: b\nDisallow: /',
      false,
    ],
    ['unknown lines within a group', 'User-agent: allotrope\nHost: x\nNoindex: /y\nUser-agent: b\nDisallow: /', false],
    ['a delay at the end of a group', 'User-agent: *\nCrawl-delay: 1\n\nUser-agent: b\nDisallow: /', true],
    ['a rule at the end of a group', 'User-agent: allotrope\nDisallow: /x\nUser-agent: b\nDisallow: /', true],
    ['an empty group of our name', 'User-agent: *\nDisallow: /\n\nUser-agent: allotrope\n', true],
  ];
  test('is the group of our name, else the group of all agents', () =>
    everyRow(
      GROUPS,
      ([name]) => name,
      ([, robots, expected]) => expect(allows(robots, '/page')).toBe(expected),
    ));

  test('is named by the product token of the user agent', () => {
    expect(productTokenOf('Allotrope/0.1 (+self-hosted)')).toBe('allotrope');
    expect(productTokenOf('My-Bot_x 2')).toBe('my-bot_x');
    // Without a product token only the group of all agents applies.
    expect(allows('User-agent:\nDisallow: /\nUser-agent: *\nDisallow: /x', '/y', productTokenOf('(none)'))).toBe(true);
  });

  test('has its own Crawl-delay', () => {
    const robots =
      'User-agent: *\nCrawl-delay: 9\n\nUser-agent: allotrope\nCrawl-delay: 0.5\n\nUser-agent: b\nCrawl-delay: x';
    expect(parseRobots(robots, 'allotrope').crawlDelaySeconds).toBe(0.5);
    expect(parseRobots(robots, 'other').crawlDelaySeconds).toBe(9);
    expect(parseRobots(robots, 'b').crawlDelaySeconds).toBeNull();
  });
});

test.each([
  ['stars', `User-agent: *\nDisallow: /${'*a'.repeat(250_000)}b`],
  ['blanks', `User-agent: *\nDisallow: /\n${' '.repeat(500_000)}`],
  ['blank keys', `User-agent: *\n${`${'a'.repeat(4000)}${' '.repeat(4000)}\n`.repeat(60)}`],
  ['many rules', `User-agent: *\n${'Disallow: /*a*a*a*a*b\n'.repeat(20_000)}`],
])('parses and evaluates a hostile file of %s in less than 8 s of CPU time', (_name, robots) => {
  const cpuAtStart = process.cpuUsage();
  const rules = parseRobots(robots, 'allotrope');
  for (let n = 0; n < 5; n += 1) rules.allows(`/${'a'.repeat(2000)}`);
  expect(process.cpuUsage(cpuAtStart).user / 1000).toBeLessThan(8000);
});
