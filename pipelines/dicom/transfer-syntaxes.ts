/** How the pixels of a transfer syntax are stored (PS3.5 Annex A); compressed.ts says who decodes. */
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
}

/** Those that are read. The deflated one is inflated before (deflated-dicom.ts). */
export const TRANSFER_SYNTAXES: Readonly<Record<string, TransferSyntax>> = {
  '1.2.840.10008.1.2': { name: 'Implicit VR Little Endian', coding: 'native' },
  '1.2.840.10008.1.2.1': { name: 'Explicit VR Little Endian', coding: 'native' },
  '1.2.840.10008.1.2.2': { name: 'Explicit VR Big Endian', coding: 'native' },
  '1.2.840.10008.1.2.4.50': { name: 'JPEG Baseline', coding: 'jpeg-sequential' },
  '1.2.840.10008.1.2.4.51': { name: 'JPEG Extended', coding: 'jpeg-sequential' },
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
  '1.2.840.10008.1.2.4.100': { name: 'MPEG-2 video', coding: 'video' },
  '1.2.840.10008.1.2.4.100.1': { name: 'MPEG-2 video, fragmentable', coding: 'video' },
  '1.2.840.10008.1.2.4.101': { name: 'MPEG-2 video, high level', coding: 'video' },
  '1.2.840.10008.1.2.4.101.1': { name: 'MPEG-2 video, high level, fragmentable', coding: 'video' },
  '1.2.840.10008.1.2.4.102': { name: 'MPEG-4 H.264 video', coding: 'video' },
  '1.2.840.10008.1.2.4.102.1': { name: 'MPEG-4 H.264 video, fragmentable', coding: 'video' },
  '1.2.840.10008.1.2.4.103': { name: 'MPEG-4 H.264 video, BD-compatible', coding: 'video' },
  '1.2.840.10008.1.2.4.103.1': {
    name: 'MPEG-4 H.264 video, BD-compatible, fragmentable',
    coding: 'video',
  },
  '1.2.840.10008.1.2.4.104': { name: 'MPEG-4 H.264 video, 4.2', coding: 'video' },
  '1.2.840.10008.1.2.4.104.1': { name: 'MPEG-4 H.264 video, 4.2, fragmentable', coding: 'video' },
  '1.2.840.10008.1.2.4.105': { name: 'MPEG-4 H.264 video, 4.2 for 3D', coding: 'video' },
  '1.2.840.10008.1.2.4.105.1': {
    name: 'MPEG-4 H.264 video, 4.2 for 3D, fragmentable',
    coding: 'video',
  },
  '1.2.840.10008.1.2.4.106': { name: 'MPEG-4 H.264 stereo video', coding: 'video' },
  '1.2.840.10008.1.2.4.106.1': {
    name: 'MPEG-4 H.264 stereo video, fragmentable',
    coding: 'video',
  },
  '1.2.840.10008.1.2.4.107': { name: 'HEVC video', coding: 'video' },
  '1.2.840.10008.1.2.4.108': { name: 'HEVC video, 10 bit', coding: 'video' },
  '1.2.840.10008.1.2.4.110': { name: 'JPEG XL Lossless', coding: 'jpeg-xl' },
  '1.2.840.10008.1.2.4.111': { name: 'JPEG XL, from JPEG', coding: 'jpeg-xl' },
  '1.2.840.10008.1.2.4.112': { name: 'JPEG XL', coding: 'jpeg-xl' },
};

/** The entry of a transfer syntax UID; an unknown one is unsupported under its own UID. */
export function transferSyntax(uid: string): TransferSyntax {
  return TRANSFER_SYNTAXES[uid] ?? { name: uid, coding: 'unsupported' };
}
