/**
 * How a transfer syntax encodes pixel data (PS3.5 Annex A). `input/pixels/compressed.ts` decodes
 * it.
 */
export type PixelCoding =
  | 'native'
  | 'jpeg-sequential'
  | 'jpeg'
  | 'jpeg-ls'
  | 'jpeg-2000'
  | 'ht-jpeg-2000'
  | 'jpeg-xl'
  | 'rle'
  | 'video'
  | 'unsupported';

export interface TransferSyntax {
  name: string;
  coding: PixelCoding;
  lossy: boolean;
}

export const IMPLICIT_VR_LITTLE_ENDIAN = '1.2.840.10008.1.2';
export const EXPLICIT_VR_LITTLE_ENDIAN = '1.2.840.10008.1.2.1';
export const DEFLATED_EXPLICIT_VR_LITTLE_ENDIAN = '1.2.840.10008.1.2.1.99';
/** Retired, but old carts still send it. */
export const EXPLICIT_VR_BIG_ENDIAN = '1.2.840.10008.1.2.2';
export const JPEG_BASELINE = '1.2.840.10008.1.2.4.50';
export const RLE_LOSSLESS = '1.2.840.10008.1.2.5';

const lossless = (name: string, coding: PixelCoding): TransferSyntax => ({
  name,
  coding,
  lossy: false,
});
const lossy = (name: string, coding: PixelCoding): TransferSyntax => ({
  name,
  coding,
  lossy: true,
});

/**
 * Transfer syntaxes that the gateway receives, forwards and reads. It offers them in this order in
 * an association: uncompressed, then lossless, then lossy.
 */
export const TRANSFER_SYNTAXES: Readonly<Record<string, TransferSyntax>> = {
  [EXPLICIT_VR_LITTLE_ENDIAN]: lossless('Explicit VR Little Endian', 'native'),
  [IMPLICIT_VR_LITTLE_ENDIAN]: lossless('Implicit VR Little Endian', 'native'),
  [EXPLICIT_VR_BIG_ENDIAN]: lossless('Explicit VR Big Endian', 'native'),
  [DEFLATED_EXPLICIT_VR_LITTLE_ENDIAN]: lossless('Deflated Explicit VR Little Endian', 'native'),
  [RLE_LOSSLESS]: lossless('RLE Lossless', 'rle'),
  '1.2.840.10008.1.2.4.57': lossless('JPEG Lossless', 'jpeg'),
  '1.2.840.10008.1.2.4.70': lossless('JPEG Lossless, first-order prediction', 'jpeg'),
  '1.2.840.10008.1.2.4.80': lossless('JPEG-LS Lossless', 'jpeg-ls'),
  '1.2.840.10008.1.2.4.90': lossless('JPEG 2000 Lossless', 'jpeg-2000'),
  '1.2.840.10008.1.2.4.110': lossless('JPEG XL Lossless', 'jpeg-xl'),
  '1.2.840.10008.1.2.4.201': lossless('HTJ2K Lossless', 'ht-jpeg-2000'),
  '1.2.840.10008.1.2.4.202': lossless('HTJ2K Lossless RPCL', 'ht-jpeg-2000'),
  [JPEG_BASELINE]: lossy('JPEG Baseline', 'jpeg-sequential'),
  '1.2.840.10008.1.2.4.51': lossy('JPEG Extended', 'jpeg-sequential'),
  '1.2.840.10008.1.2.4.81': lossy('JPEG-LS Near-Lossless', 'jpeg-ls'),
  '1.2.840.10008.1.2.4.91': lossy('JPEG 2000', 'jpeg-2000'),
  '1.2.840.10008.1.2.4.203': lossy('HTJ2K', 'ht-jpeg-2000'),
  // This syntax recompresses a JPEG without further loss, but the JPEG itself is already lossy.
  '1.2.840.10008.1.2.4.111': lossy('JPEG XL, from JPEG', 'jpeg-xl'),
  '1.2.840.10008.1.2.4.112': lossy('JPEG XL', 'jpeg-xl'),
  '1.2.840.10008.1.2.4.100': lossy('MPEG-2 video', 'video'),
  '1.2.840.10008.1.2.4.100.1': lossy('MPEG-2 video, fragmentable', 'video'),
  '1.2.840.10008.1.2.4.101': lossy('MPEG-2 video, high level', 'video'),
  '1.2.840.10008.1.2.4.101.1': lossy('MPEG-2 video, high level, fragmentable', 'video'),
  '1.2.840.10008.1.2.4.102': lossy('MPEG-4 H.264 video', 'video'),
  '1.2.840.10008.1.2.4.102.1': lossy('MPEG-4 H.264 video, fragmentable', 'video'),
  '1.2.840.10008.1.2.4.103': lossy('MPEG-4 H.264 video, BD-compatible', 'video'),
  '1.2.840.10008.1.2.4.103.1': lossy('MPEG-4 H.264 video, BD-compatible, fragmentable', 'video'),
  '1.2.840.10008.1.2.4.104': lossy('MPEG-4 H.264 video, 4.2', 'video'),
  '1.2.840.10008.1.2.4.104.1': lossy('MPEG-4 H.264 video, 4.2, fragmentable', 'video'),
  '1.2.840.10008.1.2.4.105': lossy('MPEG-4 H.264 video, 4.2 for 3D', 'video'),
  '1.2.840.10008.1.2.4.105.1': lossy('MPEG-4 H.264 video, 4.2 for 3D, fragmentable', 'video'),
  '1.2.840.10008.1.2.4.106': lossy('MPEG-4 H.264 stereo video', 'video'),
  '1.2.840.10008.1.2.4.106.1': lossy('MPEG-4 H.264 stereo video, fragmentable', 'video'),
  '1.2.840.10008.1.2.4.107': lossy('HEVC video', 'video'),
  '1.2.840.10008.1.2.4.108': lossy('HEVC video, 10 bit', 'video'),
};

const listed = (matches: (syntax: TransferSyntax) => boolean): readonly string[] =>
  Object.entries(TRANSFER_SYNTAXES).flatMap(([uid, syntax]) => (matches(syntax) ? [uid] : []));

export const NATIVE_TRANSFER_SYNTAXES = listed(({ coding }) => coding === 'native');
export const COMPRESSED_TRANSFER_SYNTAXES = listed(({ coding }) => coding !== 'native');
export const LOSSLESS_TRANSFER_SYNTAXES = listed((syntax) => !syntax.lossy);
export const LOSSY_TRANSFER_SYNTAXES = listed((syntax) => syntax.lossy);

/**
 * Returns the entry for a transfer syntax UID. An unknown syntax is marked as unsupported, with the
 * UID as its name.
 */
export function transferSyntax(uid: string): TransferSyntax {
  return TRANSFER_SYNTAXES[uid] ?? { name: uid, coding: 'unsupported', lossy: false };
}
