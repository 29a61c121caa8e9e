/** How the pixels of a transfer syntax are stored, and who decodes them (PS3.5 Annex A). */
export type PixelCoding =
  | 'native'
  | 'jpeg-baseline'
  | 'jpeg'
  | 'jpeg-ls'
  | 'jpeg-2000'
  | 'ht-jpeg-2000'
  | 'rle'
  | 'unsupported';

export interface TransferSyntax {
  name: string;
  coding: PixelCoding;
}

const TRANSFER_SYNTAXES: Readonly<Record<string, TransferSyntax>> = {
  '1.2.840.10008.1.2': { name: 'Implicit VR Little Endian', coding: 'native' },
  '1.2.840.10008.1.2.1': { name: 'Explicit VR Little Endian', coding: 'native' },
  '1.2.840.10008.1.2.2': { name: 'Explicit VR Big Endian', coding: 'native' },
  '1.2.840.10008.1.2.4.50': { name: 'JPEG Baseline', coding: 'jpeg-baseline' },
  '1.2.840.10008.1.2.4.51': { name: 'JPEG Extended', coding: 'jpeg' },
  '1.2.840.10008.1.2.4.57': { name: 'JPEG Lossless', coding: 'jpeg' },
  '1.2.840.10008.1.2.4.70': { name: 'JPEG Lossless, first-order prediction', coding: 'jpeg' },
  '1.2.840.10008.1.2.4.80': { name: 'JPEG-LS Lossless', coding: 'jpeg-ls' },
  '1.2.840.10008.1.2.4.81': { name: 'JPEG-LS Near-Lossless', coding: 'jpeg-ls' },
  '1.2.840.10008.1.2.4.90': { name: 'JPEG 2000 Lossless', coding: 'jpeg-2000' },
  '1.2.840.10008.1.2.4.91': { name: 'JPEG 2000', coding: 'jpeg-2000' },
  '1.2.840.10008.1.2.4.201': { name: 'HTJ2K Lossless', coding: 'ht-jpeg-2000' },
  '1.2.840.10008.1.2.4.202': { name: 'HTJ2K Lossless RPCL', coding: 'ht-jpeg-2000' },
  '1.2.840.10008.1.2.4.203': { name: 'HTJ2K', coding: 'ht-jpeg-2000' },
  '1.2.840.10008.1.2.5': { name: 'RLE Lossless', coding: 'rle' },
  '1.2.840.10008.1.2.4.100': { name: 'MPEG-2 video', coding: 'unsupported' },
  '1.2.840.10008.1.2.4.101': { name: 'MPEG-2 video, high level', coding: 'unsupported' },
  '1.2.840.10008.1.2.4.102': { name: 'MPEG-4 H.264 video', coding: 'unsupported' },
  '1.2.840.10008.1.2.4.103': { name: 'MPEG-4 H.264 video, BD-compatible', coding: 'unsupported' },
  '1.2.840.10008.1.2.4.104': { name: 'MPEG-4 H.264 video, 4.2', coding: 'unsupported' },
  '1.2.840.10008.1.2.4.106': { name: 'MPEG-4 H.264 stereo video', coding: 'unsupported' },
  '1.2.840.10008.1.2.4.107': { name: 'HEVC video', coding: 'unsupported' },
  '1.2.840.10008.1.2.4.108': { name: 'HEVC video, 10 bit', coding: 'unsupported' },
};

/** The entry of a transfer syntax UID; an unknown one is unsupported under its own UID. */
export function transferSyntax(uid: string): TransferSyntax {
  return TRANSFER_SYNTAXES[uid] ?? { name: uid, coding: 'unsupported' };
}
