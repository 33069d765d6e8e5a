/** Pages of threads in the markup of forum programs, with three posts: of Ann, of Ben, and of Ann again. */
type Bodies = readonly [string, string, string];
type ThreadPage = readonly [name: string, page: (bodies: Bodies) => string, dates: readonly [string, string, string]];

const NAV =
  '<nav><ul><li><a href=/>Home</a><li><a href=/latest>Latest</a><li><a href=/faq>FAQ</a><li><a href=/login>Log in</a></ul></nav>';
const FOOT = '<footer><a href=/terms>Terms</a> <a href=/privacy>Privacy</a> <a href=/contact>Contact</a></footer>';
const PEOPLE = [
  ['Ann Quay', 'ann'],
  ['Ben Lock', 'ben'],
  ['Ann Quay', 'ann'],
] as const;

const page =
  (
    post: (nth: number, name: string, user: string, body: string) => string,
    wrap: (posts: string) => string = (posts) => posts,
  ) =>
  (bodies: Bodies): string =>
    `<html><body>${NAV}<h1>Waiting at the lock</h1>${wrap(bodies.map((body, nth) => post(nth + 1, PEOPLE[nth]?.[0] ?? '', PEOPLE[nth]?.[1] ?? '', body)).join('\n'))}${FOOT}</body></html>`;

const ISO = ['2024-05-01 10:00', '2024-05-02 10:00', '2024-05-03 10:00'] as const;
const SHOWN = ['May 1, 2024, 10:00am', 'May 2, 2024, 10:00am', 'May 3, 2024, 10:00am'] as const;

export const THREADS: readonly ThreadPage[] = [
  [
    'microdata, as Discourse writes it for readers without scripts',
    page(
      (nth, name, user, body) =>
        `<div ${nth === 1 ? '' : 'itemprop=comment itemscope itemtype="http://schema.org/Comment" '}id=post_${nth} class="topic-body crawler-post"><div class=crawler-post-meta><span class=creator itemprop=author itemscope itemtype="http://schema.org/Person"><a rel=nofollow itemprop=url href=/u/${user}><span itemprop=name>${name}</span></a></span><link itemprop=mainEntityOfPage href=/t/1><span class=crawler-post-infos><time itemprop=datePublished datetime="2024-05-0${nth}T10:00:00Z" class=post-time>${SHOWN[nth - 1]}</time><meta itemprop=dateModified content="2024-06-01T10:00:00Z"><span itemprop=position>${nth}</span></span></div><div class=post itemprop=text><p>${body}</p></div><div itemprop=interactionStatistic itemscope><meta itemprop=userInteractionCount content=4><span class=post-likes>4 Likes</span></div></div>`,
      (posts) => `<div itemscope itemtype="http://schema.org/DiscussionForumPosting">${posts}</div>`,
    ),
    SHOWN,
  ],
  [
    'profile next to the text, as in phpBB',
    page(
      (nth, name, user, body) =>
        `<div id=p${nth} class="post has-profile bg${nth % 2}"><div class=inner><dl class=postprofile><dt><a href="./memberlist.php?mode=viewprofile&u=${user}" class=username>${name}</a></dt><dd class=profile-posts><strong>Posts:</strong> <a href=s>190</a></dd><dd class=profile-joined><strong>Joined:</strong> 5. Nov 2014, 16:05</dd></dl><div class=postbody><p class=author><span>by <strong><a href="./memberlist.php?u=${user}" class=username>${name}</a></strong> &raquo; </span>0${nth}. May 2024, 10:00</p><div class=content>${body}</div></div></div></div><hr class=divider>`,
    ),
    ['01. May 2024, 10:00', '02. May 2024, 10:00', '03. May 2024, 10:00'],
  ],
  [
    'a table for each post and names without classes, as in vBulletin',
    page(
      (nth, name, user, body) =>
        `<div align=center><div style="width:90%" align=left><div id=edit${nth}><table id=post${nth} class=tborder width="100%"><tr><td class=thead><a name=post${nth}><img src=old.gif alt=Old></a> ${nth}th May 2024, 10:00</td><td class=thead align=right>#<a href="showpost.php?p=${nth}"><strong>${nth}</strong></a></td></tr><tr><td class=alt2 width=175><div id=postmenu_${nth}><a href="member.php?u=${user}">${name}</a></div><div>Registered User</div><div>Join Date: Mar 2003</div><div>Posts: 118</div></td><td class=alt1><div id=post_message_${nth}>${body}</div></td></tr></table></div></div></div>`,
      (posts) => `<div id=posts>${posts}</div>`,
    ),
    ['1th May 2024, 10:00', '2th May 2024, 10:00', '3th May 2024, 10:00'],
  ],
  [
    'two columns and a reaction bar, as in XenForo',
    page(
      (nth, name, user, body) =>
        `<article class="message message--post" data-author="${name}" id=js-post-${nth}><div class=message-inner><div class="message-cell message-cell--user"><section class=message-user><h4 class=message-name><a href="/members/${user}.${nth}/" class=username>${name}</a></h4><h5 class=userTitle>Member</h5><dl class=pairs><dt>Joined</dt><dd>Jun 29, 2016</dd></dl><dl class=pairs><dt>Messages</dt><dd>11</dd></dl></section></div><div class="message-cell message-cell--main"><header class=message-attribution><ul><li><a href="/threads/1/post-${nth}"><time class=u-dt datetime="2024-05-0${nth}T10:00:00+0000">May ${nth}, 2024</time></a></li></ul><ul><li><a href="/threads/1/post-${nth}">#${nth}</a></li></ul></header><div class=message-userContent><article class=message-body><div class=bbWrapper>${body}</div></article></div></div></div></article>`,
      (posts) => `<div class=block-body>${posts}</div>`,
    ),
    ['May 1, 2024', 'May 2, 2024', 'May 3, 2024'],
  ],
  [
    'author and date after the text, and the question outside of the list of answers, as on Stack Exchange',
    (bodies) => {
      const signed = (nth: number, what: string, name: string): string =>
        `<div class=post-signature><div class=user-info><div class=user-action-time>${what} <span title="2024-05-0${nth} 10:00:00Z" class=relativetime>${nth} days ago</span></div><div class=user-details itemprop=author itemscope itemtype="http://schema.org/Person"><a href=/users/${nth}/x>${name}</a><span class=reputation-score>1,234</span></div></div></div>`;
      const edited =
        '<div class=post-signature><div class=user-info><div class=user-action-time><a href=/r>edited <span title="2024-06-09 10:00:00Z" class=relativetime>yesterday</span></a></div><div class=user-details><a href=/users/9/z>Eve Editor</a></div></div></div>';
      const post = (kind: string, nth: number, what: string, name: string, body: string): string =>
        `<div class=${kind} id=${kind}-${nth}><div class=post-layout><div class=votecell><button>Up</button><div>${nth}</div></div><div class=postcell><div class=s-prose><p>${body}</p></div><div>${edited}${signed(nth, what, name)}</div></div></div></div>`;
      const [question, first, second] = bodies;
      return `<html><body>${NAV}<h1>Waiting at the lock</h1><div id=mainbar>${post('question', 1, 'asked', 'Ann Quay', question)}<div id=answers><h2>2 Answers</h2>${post('answer', 2, 'answered', 'Ben Lock', first)}${post('answer', 3, 'answered', 'Ann Quay', second)}</div></div>${FOOT}</body></html>`;
    },
    ISO,
  ],
  [
    'replies inside of replies, as on old Reddit',
    ([first, second, third]) => {
      const comment = (nth: number, name: string, body: string, inner: string): string =>
        `<div class="thing id-t1_${nth} comment" data-author="${name}"><div class="entry unvoted"><p class=tagline><a href="javascript:void(0)" class=expand>[–]</a><a href="/user/${nth}" class=author>${name}</a> <span class=score>${nth} points</span> <time datetime="2024-05-0${nth}T10:00:00+00:00">1 year ago</time></p><form class=usertext><div class="usertext-body md-container"><div class=md><p>${body}</p></div></div></form><ul class=buttons><li><a href=/p>permalink</a><li><a href=/r>reply</a></ul></div><div class=child>${inner === '' ? '' : `<div class="sitetable listing">${inner}</div>`}</div></div>`;
      return `<html><body>${NAV}<h1>Waiting at the lock</h1><div class="sitetable nestedlisting">${comment(1, 'Ann Quay', first, comment(2, 'Ben Lock', second, ''))}${comment(3, 'Ann Quay', third, '')}</div>${FOOT}</body></html>`;
    },
    ISO,
  ],
  [
    'rows of one table, indented by pictures, as on Hacker News',
    page(
      (nth, name, user, body) =>
        `<tr class="athing comtr" id=c${nth}><td><table><tr><td class=ind><img src=s.gif width=${nth * 40}></td><td class=votelinks><a href=v><div class=votearrow title=upvote></div></a></td><td class=default><div><span class=comhead><a href="user?id=${user}" class=hnuser>${name}</a> <span class=age title="2024-05-0${nth}T10:00:00 1714557600"><a href="item?id=${nth}">${nth} days ago</a></span></span></div><div class=comment><div class=commtext>${body}</div><div class=reply><p><font size=1><u><a href=reply>reply</a></u></font></div></div></td></tr></table></td></tr>`,
      (posts) => `<table class=comment-tree>${posts}</table>`,
    ),
    ISO,
  ],
  [
    'messages of a mailing list, as in HyperKitty',
    page(
      (nth, name, user, body) =>
        `<div class=email><div class=email-header id=m${nth}><div class=email-info><span class=email-author><span class=name><a href="/users/${user}/">${name}</a></span></span><div class=email-date><a href=#m${nth}>1 May</a> <span class=time><span title="Sender's time: May ${nth}, 2024, 10:00">10:00</span><time datetime="2024-05-0${nth}T10:00:00+00:00">10:00 a.m.</time></span></div></div></div><div class=email-body><p>${body}</p></div></div>`,
    ),
    ISO,
  ],
  [
    'comments of an issue, as on GitHub',
    page(
      (nth, name, user, body) =>
        `<div class=TimelineItem><div class=comment><div class=comment-header><h3><strong><a class="author Link" href="/${user}">${name}</a></strong> commented <a href=#c${nth}><relative-time datetime="2024-05-0${nth}T10:00:00Z">May ${nth}, 2024</relative-time></a></h3></div><div class=edit-comment-hide><div class="comment-body markdown-body"><p>${body}</p></div></div></div></div>`,
    ),
    ['May 1, 2024', 'May 2, 2024', 'May 3, 2024'],
  ],
  [
    'classes without a meaning and a page in German',
    page(
      (nth, name, user, body) =>
        `<li class=x7 id=k${nth}><div class=x8><a href="/mitglied/${user}/profile">${name}</a> <span class=x9>schrieb am 0${nth}.05.2024, 10:00 Uhr</span></div><div class=x10><p>${body}</p></div><div class=x11><a href=#a>Antworten</a> <a href=#z>Zitieren</a> <a href=#m>Melden</a></div></li>`,
      (posts) => `<ol class=x6>${posts}</ol>`,
    ),
    ['schrieb am 01.05.2024, 10:00 Uhr', 'schrieb am 02.05.2024, 10:00 Uhr', 'schrieb am 03.05.2024, 10:00 Uhr'],
  ],
  [
    'names that only a relation marks',
    page(
      (nth, name, user, body) =>
        `<div class=k1><p class=k2><a rel="nofollow author" href="/x/${user}">${name}</a> · <time datetime="2024-05-0${nth}">May ${nth}, 2024</time></p><div class=k3><p>${body}</p></div></div>`,
    ),
    ['May 1, 2024', 'May 2, 2024', 'May 3, 2024'],
  ],
  [
    'names in bold after other words',
    page(
      (nth, name, _user, body) =>
        `<div class=k1><p class=author>Written by <b>${name}</b></p><p class=k2><time datetime="2024-05-0${nth}">May ${nth}, 2024</time></p><div class=k3><p>${body}</p></div></div>`,
    ),
    ['May 1, 2024', 'May 2, 2024', 'May 3, 2024'],
  ],
  [
    'JSON-LD of a page that has no other text',
    ([first, second, third]) => {
      const posts = [first, second, third].map((text, nth) => ({
        '@type': nth === 0 ? 'DiscussionForumPosting' : 'Comment',
        author: { '@type': 'Person', name: PEOPLE[nth]?.[0] },
        datePublished: `2024-05-0${nth + 1}T10:00:00Z`,
        text,
      }));
      const data = {
        '@context': 'https://schema.org',
        ...posts[0],
        headline: 'Waiting at the lock',
        comment: posts.slice(1),
      };
      return `<html><body><script type="application/ld+json">${JSON.stringify(data)}</script><div id=app></div></body></html>`;
    },
    ISO,
  ],
  [
    'articles without dates, as Flarum writes them for readers without scripts',
    page(
      (_nth, name, _user, body) =>
        `<article><div class=PostUser><h3 class=PostUser-name>${name}</h3></div><div class=Post-body><p>${body}</p></div></article>`,
    ),
    ['', '', ''],
  ],
];
