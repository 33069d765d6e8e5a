/** Content of the demo's accounts: Google Drive and Slack of a small harbour. */
import type { EmulatedFile } from '../../test/emulators/googleDrive.js';
import { DRIVE_DOCUMENT, DRIVE_FOLDER } from '../../test/emulators/googleDrive.js';
import type { EmulatedConversation, EmulatedMessage } from '../../test/emulators/slack.js';

export const DRIVE: Record<string, EmulatedFile> = {
  handbook: { name: 'Handbook', mimeType: DRIVE_FOLDER },
  fees: {
    name: 'Berth fees',
    mimeType: DRIVE_DOCUMENT,
    parent: 'handbook',
    content:
      '# Berth fees\n\nA night at the guest pier costs two crowns a metre of length, water and power included. Guests who stay a week pay for five nights. Fees are paid at the kiosk before ten in the morning.',
  },
  storm: {
    name: 'When a storm comes',
    mimeType: DRIVE_DOCUMENT,
    parent: 'handbook',
    content:
      '# When a storm comes\n\nFrom wind force eight on, the outer gate is closed and boats at the guest pier are moved behind the breakwater. The harbour master calls each skipper; a skipper who cannot be reached finds the boat moved and a note at the kiosk.',
  },
  lighthouse: {
    name: 'lighthouse.txt',
    content:
      'The lighthouse was lit in 1901. Its lamp burned paraffin until 1938, when the cable from the mainland was laid. Visitors climb its 112 steps on Saturdays.',
  },
};

const at = (minutes: number): string => `${1_772_619_300 + minutes * 60}.000100`;
const ferry = at(0);
const messages: EmulatedMessage[] = [
  { ts: ferry, text: 'Does the ferry sail on Sunday?', user: 'U0BEN' },
  { ts: at(2), text: 'Yes, at seven and at noon, and back at five.', user: 'U0ADA', thread: ferry },
  { ts: at(40), text: 'The crane is out of order until Thursday. Lift-outs are moved to Friday.', user: 'U0ADA' },
];

export const CONVERSATIONS: Readonly<Record<string, EmulatedConversation>> = {
  C0HARBOUR: { name: 'harbour', type: 'public_channel', messages },
  C0REGATTA: {
    name: 'regatta',
    type: 'public_channel',
    messages: [{ ts: at(90), text: 'The regatta starts at ten; skippers meet at nine at the kiosk.', user: 'U0BEN' }],
  },
};
export const USERS: Readonly<Record<string, string>> = { U0ADA: 'Ada', U0BEN: 'Ben' };
