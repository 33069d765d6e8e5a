import { describe, expect, test } from '@jest/globals';

import { everyRow } from '../../support/everyRow.js';
import { parseRobots, productTokenOf } from '../../../connectors/web/robotsRules.js';

const allows = (robots: string, path: string, token = 'allotrope') => parseRobots(robots, token).allows(path);

describe('which rule decides', () => {
  const DECIDED: readonly (readonly [string, string, string, boolean])[] = [
    ['no rules', '', '/x', true],
    ['a prefix', 'User-agent: *\nDisallow: /a', '/a/b', false],
    ['not a prefix', 'User-agent: *\nDisallow: /a', '/b/a', true],
    ['case matters in paths', 'User-agent: *\nDisallow: /A', '/a', true],
    ['an empty Disallow', 'User-agent: *\nDisallow:', '/x', true],
    ['the longest wins', 'User-agent: *\nDisallow: /a\nAllow: /a/b', '/a/b/c', true],
    ['whatever the order', 'User-agent: *\nAllow: /a/b\nDisallow: /a', '/a/b/c', true],
    ['the longest may forbid', 'User-agent: *\nAllow: /a\nDisallow: /a/b', '/a/b/c', false],
    ['of equals Allow wins', 'User-agent: *\nDisallow: /a\nAllow: /a', '/a', true],
    ['a star', 'User-agent: *\nDisallow: /*.pdf', '/x/y.pdf?z', false],
    ['a star and the end', 'User-agent: *\nDisallow: /*.pdf$', '/x/y.pdf?z', true],
    ['a star and the end, met', 'User-agent: *\nDisallow: /*.pdf$', '/a.pdf.pdf', false],
    ['the end alone', 'User-agent: *\nDisallow: /a$', '/a/', true],
    ['the end alone, met', 'User-agent: *\nDisallow: /a$', '/a', false],
    ['parts may not overlap', 'User-agent: *\nDisallow: /ab*ba$', '/aba', true],
    ['several stars', 'User-agent: *\nDisallow: /a**b*c', '/axxbyyc', false],
    ['stars count in the length', 'User-agent: *\nDisallow: /page*\nAllow: /page', '/page1', false],
    ['the query belongs to the path', 'User-agent: *\nDisallow: /*?sid=', '/x?sid=1', false],
    ['a dollar inside is a dollar', 'User-agent: *\nDisallow: /a$b', '/a$b', false],
    ['an encoded star is a star', 'User-agent: *\nDisallow: /a-%2A.html', '/a-*.html', false],
    ['an encoded star is no wildcard', 'User-agent: *\nDisallow: /a-%2A.html', '/a-x.html', true],
    ['an encoded dollar is a dollar', 'User-agent: *\nDisallow: /a%24', '/a$b', false],
    ['encoding of what needs none', 'User-agent: *\nDisallow: /foo/bar/%62%61%7A', '/foo/bar/baz', false],
    ['encoding the other way round', 'User-agent: *\nDisallow: /foo/bar/baz', '/foo/bar/%62%61%7A', false],
    ['characters beyond ASCII', 'User-agent: *\nDisallow: /föö/ツ', '/f%C3%B6%c3%b6/%E3%83%84', false],
    ['a slash and an encoded slash differ', 'User-agent: *\nDisallow: /a%2Fb', '/a/b', true],
    ['a path without its slash', 'User-agent: *\nDisallow: a', '/abc', false],
    ['robots.txt itself', 'User-agent: *\nDisallow: /', '/robots.txt', true],
    ['comments and blanks', '  user-AGENT :  *  # all\n\n\tDISALLOW\t:/a#b', '/a', false],
    ['a byte order mark is not part of it', 'User-agent: *\r\nDisallow: /a\rDisallow: /b', '/b', false],
    ['rules before any agent', 'Disallow: /\nUser-agent: other\nDisallow: /x', '/x', true],
  ];
  test('is the longest that matches', () =>
    everyRow(
      DECIDED,
      ([what]) => what,
      ([, robots, path, expected]) => expect(allows(robots, path)).toBe(expected),
    ));
});

describe('which group is ours', () => {
  const GROUPS: readonly (readonly [string, string, boolean])[] = [
    ['ours before everyone', 'User-agent: *\nDisallow: /\n\nUser-agent: Allotrope\nDisallow: /x', true],
    ['everyone where ours is absent', 'User-agent: other\nAllow: /\n\nUser-agent: *\nDisallow: /', false],
    ['case does not matter', 'User-agent: ALLOTROPE\nDisallow: /', false],
    ['a version after the name', 'User-agent: Allotrope/1.0\nDisallow: /', false],
    ['a longer name is another', 'User-agent: AllotropeImages\nDisallow: /', true],
    ['a shorter name is another', 'User-agent: Allo\nDisallow: /', true],
    ['agents that share a group', 'User-agent: a\nUser-agent: allotrope\nUser-agent: b\nDisallow: /', false],
    [
      'two groups of ours are one',
      'User-agent: allotrope\nDisallow: /\nUser-agent: b\nAllow: /\nUser-agent: allotrope\nAllow: /q',
      false,
    ],
    [
      'a Sitemap line ends no group',
      'User-agent: allotrope\nSitemap: https://site.example/s.xml\nUser-agent: b\nDisallow: /',
      false,
    ],
    ['an unknown line ends no group', 'User-agent: allotrope\nHost: x\nNoindex: /y\nUser-agent: b\nDisallow: /', false],
    ['a delay ends one', 'User-agent: *\nCrawl-delay: 1\n\nUser-agent: b\nDisallow: /', true],
    ['a rule does', 'User-agent: allotrope\nDisallow: /x\nUser-agent: b\nDisallow: /', true],
    ['an empty group of ours is a group', 'User-agent: *\nDisallow: /\n\nUser-agent: allotrope\n', true],
  ];
  test('is told by our name, else it is that of everyone', () =>
    everyRow(
      GROUPS,
      ([what]) => what,
      ([, robots, expected]) => expect(allows(robots, '/page')).toBe(expected),
    ));

  test('the name is taken from the user agent', () => {
    expect(productTokenOf('Allotrope/0.1 (+self-hosted)')).toBe('allotrope');
    expect(productTokenOf('My-Bot_x 2')).toBe('my-bot_x');
    // Without a name only the groups for everyone count.
    expect(allows('User-agent:\nDisallow: /\nUser-agent: *\nDisallow: /x', '/y', productTokenOf('(none)'))).toBe(true);
  });

  test('and its Crawl-delay', () => {
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
])('a hostile file of %s is read and asked in good time', (_name, robots) => {
  const begun = process.cpuUsage();
  const rules = parseRobots(robots, 'allotrope');
  for (let n = 0; n < 5; n += 1) rules.allows(`/${'a'.repeat(2000)}`);
  expect(process.cpuUsage(begun).user / 1000).toBeLessThan(8000);
});
