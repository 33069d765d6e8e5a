/**
 * ffmpeg arguments for the recordings of a test run: at least three per type, with different contents and encodings.
 */
import type { FileFormat } from '../../../../contract/files/fileFormats.js';
import type { AUDIO_SOURCES, VIDEO_SOURCES } from '../../../../contract/sources/sources.js';

/** Audio and video types. Each is a format of its own. */
export type RecordingType = (typeof AUDIO_SOURCES | typeof VIDEO_SOURCES)[number];

export interface Recipe {
  readonly what: string;
  /** ffmpeg arguments for this file. */
  readonly args: readonly string[];
  /** Number of leading bytes to remove: a header that ffmpeg always writes and older programs did not write. */
  readonly without?: number;
  /** Whether the content is encrypted. */
  readonly isEncrypted?: true;
  /** Format detected without a file name, if it is not the recording's own type; null for none. */
  readonly unnamed?: FileFormat | null;
}

/** Inputs: a voice with rising and falling syllables, a voice after a pause, a crowd, a moving picture, and a cover. */
export const INPUTS: readonly string[] = [
  'aevalsrc=0.3*max(0\\,sin(2*PI*3.7*t))*(sin(2*PI*(118+9*sin(2*PI*0.8*t))*t)+0.7*sin(2*PI*590*t)+0.4*sin(2*PI*1180*t)):s=48000:d=2',
  'aevalsrc=gt(t\\,0.5)*0.3*max(0\\,sin(2*PI*4.3*t))*(sin(2*PI*205*t)+0.6*sin(2*PI*820*t)):s=48000:d=2',
  'anoisesrc=c=pink:r=48000:a=0.9:d=2:seed=7',
  'testsrc2=s=128x96:r=12.5:d=2',
  'color=c=teal:s=96x96:r=25:d=0.04',
];
const VOICE = ['-map', '0:a'];
const PAUSE = ['-map', '1:a'];
const CROWD = ['-map', '2:a'];
const VIDEO = ['-map', '3:v', '-pix_fmt', 'yuv420p'];
const MONO = ['-ac', '1'];
const STEREO = ['-ac', '2'];
const rate = (hertz: number): string[] => ['-ar', String(hertz)];
const seconds = (length: number): string[] => ['-t', String(length)];
const bits = (audio: number): string[] => ['-b:a', `${audio}k`];
const titled = (title: string): string[] => ['-metadata', `title=${title}`, '-metadata', 'artist=Zoë Löfgren'];
const KEY = '76a6c65c5ea762046bd749a2e632ccbb';
const ENCRYPTED = ['-encryption_scheme', 'cenc-aes-ctr', '-encryption_key', KEY, '-encryption_kid', KEY];
/** Motion JPEG, in the colour range of photographs. */
const JPEG = ['-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p'];
/** Frame rate of a broadcast. */
const PAL = ['-r', '25'];

/** Returns the MPEG recipes for a voice. The extensions .mpeg and .mpg are used for all of them. */
const mpegStreams = (voice: readonly string[]): readonly Recipe[] => [
  {
    what: 'MPEG-1, video and sound',
    args: [...VIDEO, ...voice, ...PAL, '-c:v', 'mpeg1video', '-c:a', 'mp2', '-f', 'mpeg'],
    unnamed: 'MPEG',
  },
  {
    what: 'MPEG-2 as on a DVD',
    args: [...VIDEO, ...voice, ...PAL, ...seconds(1.4), '-c:v', 'mpeg2video', '-c:a', 'ac3', '-f', 'vob'],
    unnamed: 'MPEG',
  },
  {
    what: 'as broadcast',
    args: [...VIDEO, ...voice, ...CROWD, ...PAL, '-c:v', 'mpeg2video', '-c:a', 'mp2', '-f', 'mpegts'],
    unnamed: null,
  },
];
const bareVideo = (codec: string): Recipe => ({
  what: 'bare video',
  args: [...VIDEO, ...PAL, ...seconds(1), '-c:v', codec, '-f', codec],
  unnamed: 'MPEG',
});

export const RECIPES: { readonly [Type in RecordingType]: readonly Recipe[] } = {
  MP3: [
    { what: 'a voice with a title', args: [...VOICE, ...MONO, ...bits(32), ...titled('Minutes of the meeting')] },
    {
      what: 'a telephone call, without any tag',
      args: [...PAUSE, ...MONO, ...rate(8000), ...bits(16), '-id3v2_version', '0', '-write_xing', '0'],
    },
    {
      what: 'stereo with a picture of its cover',
      args: [...CROWD, ...STEREO, ...bits(128), ...seconds(1.5), '-map', '4:v', '-c:v', 'png'],
    },
  ],
  MP2: [
    { what: 'a studio', args: [...VOICE, ...STEREO, ...bits(192), '-c:a', 'mp2'] },
    { what: 'low rates', args: [...PAUSE, ...MONO, ...rate(16_000), ...bits(32), '-c:a', 'mp2'] },
    { what: 'a broadcast', args: [...CROWD, ...STEREO, ...rate(24_000), ...seconds(1.2), '-c:a', 'mp2fixed'] },
  ],
  AAC: [
    { what: 'stereo', args: [...CROWD, ...STEREO, ...rate(44_100), ...bits(96), '-f', 'adts'] },
    { what: 'a telephone call', args: [...VOICE, ...MONO, ...rate(8000), ...bits(16), '-f', 'adts'] },
    {
      what: 'with a title in front',
      args: [...PAUSE, ...MONO, ...bits(48), ...titled('Voice mail'), '-f', 'adts', '-write_id3v2', '1'],
    },
  ],
  WAV: [
    { what: 'samples of 16 bits', args: [...VOICE, ...MONO, ...rate(16_000)] },
    { what: 'samples of 32 bits, with a title', args: [...CROWD, ...STEREO, ...titled('Hall'), '-c:a', 'pcm_f32le'] },
    { what: 'a telephone call', args: [...PAUSE, ...MONO, ...rate(8000), '-c:a', 'pcm_mulaw'] },
    { what: 'RF64, for very long files', args: [...VOICE, ...STEREO, ...seconds(1), '-rf64', 'always'] },
  ],
  FLAC: [
    { what: 'a voice', args: [...VOICE, ...MONO, ...rate(16_000)] },
    { what: '24 bits', args: [...CROWD, ...STEREO, '-sample_fmt', 's32', '-bits_per_raw_sample', '24'] },
    { what: 'with a title', args: [...PAUSE, ...MONO, ...rate(44_100), ...titled('Interview')] },
  ],
  // PCM has no signature: only the file name identifies it.
  PCM: [
    { what: 'a voice', args: [...VOICE, ...MONO, ...rate(16_000), '-f', 's16le'], unnamed: null },
    { what: 'silence at the start', args: [...PAUSE, ...MONO, ...rate(16_000), '-f', 's16le'], unnamed: null },
    { what: 'no silence', args: [...CROWD, ...MONO, ...rate(16_000), '-f', 's16le'], unnamed: null },
  ],
  M4A: [
    { what: 'a voice', args: [...VOICE, ...MONO, ...bits(32), '-f', 'ipod'] },
    {
      what: 'without loss, with a title',
      args: [...CROWD, ...STEREO, ...titled('Hall'), '-c:a', 'alac', '-f', 'ipod'],
    },
    { what: 'in parts', args: [...PAUSE, ...MONO, '-f', 'ipod', '-movflags', 'frag_keyframe+empty_moov'] },
    { what: 'encrypted', args: [...VOICE, ...ENCRYPTED, '-f', 'ipod'], isEncrypted: true },
    { what: 'marked as MP4', args: [...VOICE, ...STEREO, ...rate(22_050), '-f', 'mp4'], unnamed: 'MP4' },
  ],
  OGG: [
    { what: 'Vorbis with a title', args: [...VOICE, ...MONO, ...titled('Speech'), '-c:a', 'libvorbis'] },
    { what: 'FLAC', args: [...CROWD, ...STEREO, ...seconds(1), '-c:a', 'flac'] },
    { what: 'Speex', args: [...PAUSE, ...MONO, ...rate(16_000), '-c:a', 'libspeex'] },
  ],
  OPUS: [
    { what: 'a voice', args: [...VOICE, ...MONO, ...bits(16), '-application', 'voip'] },
    { what: 'stereo with a title', args: [...CROWD, ...STEREO, ...bits(96), ...titled('Hall')] },
    { what: 'long packets', args: [...PAUSE, ...MONO, ...rate(16_000), '-frame_duration', '60'] },
  ],
  MPEG: [...mpegStreams(VOICE), bareVideo('mpeg1video')],
  MPG: [...mpegStreams(PAUSE), bareVideo('mpeg2video')],
  MP4: [
    { what: 'H.264 and AAC', args: [...VIDEO, ...VOICE, '-c:v', 'libx264', '-preset', 'ultrafast'] },
    {
      what: 'MPEG-4 in parts',
      args: [...VIDEO, ...PAUSE, '-c:v', 'mpeg4', '-movflags', 'frag_keyframe+empty_moov'],
    },
    {
      what: 'H.265, its index in front',
      args: [...VIDEO, ...CROWD, ...seconds(1), '-c:v', 'libx265', '-tag:v', 'hvc1', '-movflags', '+faststart'],
    },
    { what: 'encrypted', args: [...VIDEO, ...VOICE, '-c:v', 'mpeg4', ...ENCRYPTED], isEncrypted: true },
  ],
  WMV: [
    { what: 'of today', args: [...VIDEO, ...VOICE, '-c:v', 'wmv2', '-c:a', 'wmav2'] },
    { what: 'of 1999', args: [...VIDEO, ...CROWD, ...seconds(1.3), '-c:v', 'wmv1', '-c:a', 'wmav1'] },
    { what: 'with a title', args: [...VIDEO, ...PAUSE, ...titled('Tour'), '-c:v', 'msmpeg4', '-c:a', 'libmp3lame'] },
  ],
  AVI: [
    { what: 'MPEG-4 and MP3', args: [...VIDEO, ...VOICE, '-c:v', 'mpeg4', '-c:a', 'libmp3lame'] },
    { what: 'of a camera', args: [...VIDEO, ...CROWD, ...seconds(0.8), ...JPEG, '-c:a', 'pcm_s16le'] },
    { what: 'with a title', args: [...VIDEO, ...PAUSE, ...titled('Tour'), '-c:v', 'flv', '-c:a', 'adpcm_ms'] },
  ],
  MOV: [
    { what: 'of a telephone', args: [...VIDEO, ...VOICE, '-c:v', 'libx264', '-preset', 'ultrafast'] },
    { what: 'of a studio', args: [...VIDEO, ...CROWD, ...seconds(0.5), '-c:v', 'prores_ks', '-c:a', 'pcm_s16be'] },
    { what: 'its index in front', args: [...VIDEO, ...PAUSE, ...JPEG, '-c:a', 'alac', '-movflags', '+faststart'] },
    {
      what: 'without a file type header',
      args: [...VIDEO, ...VOICE, ...seconds(1), '-c:v', 'svq1', '-c:a', 'adpcm_ima_qt'],
      without: 20,
    },
  ],
  MKV: [
    { what: 'H.264 and AAC', args: [...VIDEO, ...VOICE, '-c:v', 'libx264', '-preset', 'ultrafast'] },
    { what: 'two voices', args: [...VIDEO, ...VOICE, ...PAUSE, '-c:v', 'mpeg4', '-c:a', 'flac'] },
    { what: 'codecs of WebM', args: [...VIDEO, ...CROWD, ...titled('webm'), '-c:v', 'libvpx', '-c:a', 'libopus'] },
  ],
  FLV: [
    { what: 'of 2003', args: [...VIDEO, ...VOICE, ...rate(22_050), '-c:v', 'flv', '-c:a', 'libmp3lame'] },
    { what: 'of 2010', args: [...VIDEO, ...PAUSE, '-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac'] },
    { what: 'sound alone', args: [...CROWD, ...MONO, ...rate(16_000), '-c:a', 'nellymoser'] },
  ],
  WEBM: [
    { what: 'VP8 and Vorbis', args: [...VIDEO, ...VOICE, '-c:v', 'libvpx', '-c:a', 'libvorbis'] },
    { what: 'VP9 and Opus', args: [...VIDEO, ...CROWD, ...seconds(1), '-c:v', 'libvpx-vp9', '-c:a', 'libopus'] },
    { what: 'sound alone, with a title', args: [...PAUSE, ...MONO, ...titled('Call'), '-c:a', 'libopus'] },
  ],
};
