import { STORAGE_CLASS } from '../../../pipelines/dicom/sop-classes.ts';
import {
  EXPLICIT_VR_BIG_ENDIAN,
  EXPLICIT_VR_LITTLE_ENDIAN,
  IMPLICIT_VR_LITTLE_ENDIAN,
  JPEG_BASELINE,
  RLE_LOSSLESS,
} from '../../../pipelines/dicom/transfer-syntaxes.ts';

/**
 * SOP classes of images: the current ones, and those that DICOM retired in 1994 but some carts
 * still send.
 */
const CLASSES = {
  current: { still: STORAGE_CLASS.ultrasound, cine: STORAGE_CLASS.ultrasoundMultiframe },
  retired: {
    still: STORAGE_CLASS.ultrasoundRetired,
    cine: STORAGE_CLASS.ultrasoundMultiframeRetired,
  },
} as const;

/** User Information sub-items in addition to those that every peer sends (PS3.7 D.3.3). */
const USER_ITEM = {
  /**
   * An Asynchronous Operations Window with any number of operations. The gateway does not negotiate
   * it.
   */
  asynchronousWindow: Buffer.from([0x53, 0, 0, 4, 0, 0, 0, 0]),
  /** User Identity: a user name, without a requested response. */
  userIdentity: Buffer.concat([
    Buffer.from([0x58, 0, 0, 10, 1, 0, 0, 4]),
    Buffer.from('TECH'),
    Buffer.from([0, 0]),
  ]),
} as const;

/** The name of a kind of cart, and what it writes into its objects. */
export interface CartKind {
  /** What distinguishes this cart from others, in words. */
  habit: string;
  callingAeTitle: string;
  classes: { still: string; cine: string };
  /** The encoding of its images, and the transfer syntaxes offered for them. */
  compression: 'native' | 'jpeg';
  transferSyntaxes: readonly string[];
  /** Private data elements in its objects: private creator and odd group number. */
  privateData: { creator: string; group: string };
}

/** How a kind of cart behaves on the network. */
export interface Cart extends CartKind {
  implementation: { classUid: string; version: string };
  /** Maximum PDU length that the cart announces; 0 means no limit (PS3.8 D.1). */
  announcedPduBytes: number;
  /**
   * The P-DATA-TF PDUs that the cart sends: their maximum length, the maximum number of
   * presentation data values in a PDU, and whether a PDU may contain both command and data.
   */
  pdu: { bytes: number; values: number; commandBesideData: boolean };
  /**
   * Whether the cart proposes a presentation context for each transfer syntax of a class, or a
   * single one with all of them.
   */
  contexts: 'per-syntax' | 'per-class';
  /** Classes that the cart proposes but never uses. */
  alsoProposes: readonly string[];
  /** Whether the cart uses one association for the whole study, or one for each object. */
  association: 'study' | 'object';
  /** How the cart ends an association: A-RELEASE, A-ABORT, or only by closing the connection. */
  end: 'release' | 'abort' | 'close';
  /** Whether the cart reports the examination by MPPS (PS3.4 F.7). */
  performedProcedure: boolean;
  /** Whether the cart requests storage commitment after the study (PS3.4 J). */
  commitment: boolean;
  userItems: readonly Buffer[];
}

/**
 * A cart without special behaviour, simulated by dcmjs-dimse. For the other carts,
 * `CartAssociation` writes the PDUs, because dcmjs-dimse cannot imitate them (docs/dicom.md).
 */
export const PLAIN_CART: CartKind = {
  habit: 'sends compressed images unchanged, one association for the study, MPPS',
  callingAeTitle: 'CART',
  classes: CLASSES.current,
  compression: 'jpeg',
  transferSyntaxes: [JPEG_BASELINE],
  privateData: { creator: 'PLAIN STYLE', group: '0019' },
};

/**
 * How ultrasound carts behave on an association, by style. The styles are modelled on issues
 * reported by integrators: retired classes and one context per syntax (dcm4che 957), compressed
 * cines only (pynetdicom 670), the asynchronous window (dcm4che 1120), abort and release
 * (pynetdicom 619). They were not captured from real carts: titles, implementation names and
 * private creators are our own.
 */
export const CARTS = {
  ge: {
    habit:
      'retired SOP classes, one presentation context per transfer syntax, one association throughout the study, MPPS, asynchronous operations window',
    callingAeTitle: 'CART-GE',
    implementation: { classUid: '2.25.1001', version: 'GE_STYLE_1' },
    announcedPduBytes: 16_384,
    pdu: { bytes: 16_384, values: 1, commandBesideData: false },
    contexts: 'per-syntax',
    classes: CLASSES.retired,
    compression: 'jpeg',
    transferSyntaxes: [
      JPEG_BASELINE,
      RLE_LOSSLESS,
      EXPLICIT_VR_LITTLE_ENDIAN,
      IMPLICIT_VR_LITTLE_ENDIAN,
    ],
    alsoProposes: [CLASSES.current.still, CLASSES.current.cine, STORAGE_CLASS.comprehensiveSr],
    association: 'study',
    end: 'release',
    performedProcedure: true,
    commitment: false,
    userItems: [USER_ITEM.asynchronousWindow],
    privateData: { creator: 'GE STYLE MOVIE', group: '7fe1' },
  },
  philips: {
    habit: 'an association for each image, released; user identity; storage commitment',
    callingAeTitle: 'CART-PHILIPS',
    implementation: { classUid: '2.25.1002', version: 'PHILIPS_STYLE_01' },
    announcedPduBytes: 65_536,
    pdu: { bytes: 65_536, values: 1, commandBesideData: true },
    contexts: 'per-class',
    classes: CLASSES.current,
    compression: 'native',
    transferSyntaxes: [
      EXPLICIT_VR_LITTLE_ENDIAN,
      IMPLICIT_VR_LITTLE_ENDIAN,
      EXPLICIT_VR_BIG_ENDIAN,
    ],
    alsoProposes: [STORAGE_CLASS.comprehensiveSr, STORAGE_CLASS.keyObjects],
    association: 'object',
    end: 'release',
    performedProcedure: false,
    commitment: true,
    userItems: [USER_ITEM.userIdentity],
    privateData: { creator: 'PHILIPS STYLE 3D', group: '200d' },
  },
  samsung: {
    habit: 'offers compressed images only, and aborts instead of releasing',
    callingAeTitle: 'CART-SAMSUNG',
    // UIDs in PDUs have no padding (PS3.8 Annex F), but some carts pad them to an even length.
    implementation: { classUid: '2.25.10030\0', version: ' SAMSUNG STYLE ' },
    announcedPduBytes: 32_768,
    pdu: { bytes: 32_768, values: 2, commandBesideData: false },
    contexts: 'per-class',
    classes: CLASSES.current,
    compression: 'jpeg',
    transferSyntaxes: [JPEG_BASELINE],
    alsoProposes: [],
    association: 'study',
    end: 'abort',
    performedProcedure: false,
    commitment: false,
    userItems: [],
    privateData: { creator: 'SAMSUNG STYLE', group: '0045' },
  },
  mindray: {
    habit:
      'Implicit VR only, large PDUs of many values, no PDU limit, closes the connection without a release',
    callingAeTitle: 'CART-MINDRAY',
    implementation: { classUid: '2.25.1004', version: '' },
    announcedPduBytes: 0,
    pdu: { bytes: 1_048_576, values: 7, commandBesideData: true },
    contexts: 'per-class',
    classes: CLASSES.current,
    compression: 'native',
    transferSyntaxes: [IMPLICIT_VR_LITTLE_ENDIAN],
    alsoProposes: [],
    association: 'study',
    end: 'close',
    performedProcedure: false,
    commitment: false,
    userItems: [],
    privateData: { creator: 'MINDRAY STYLE', group: '0029' },
  },
  canon: {
    habit: 'proposes every SOP class it supports, small PDUs, MPPS and storage commitment',
    callingAeTitle: 'CART-CANON',
    implementation: { classUid: '2.25.1005', version: 'CANON_STYLE' },
    announcedPduBytes: 4096,
    pdu: { bytes: 4096, values: 3, commandBesideData: false },
    contexts: 'per-syntax',
    classes: CLASSES.current,
    compression: 'native',
    transferSyntaxes: [IMPLICIT_VR_LITTLE_ENDIAN, EXPLICIT_VR_LITTLE_ENDIAN],
    alsoProposes: [
      CLASSES.retired.still,
      CLASSES.retired.cine,
      STORAGE_CLASS.secondaryCapture,
      STORAGE_CLASS.enhancedSr,
      '1.2.840.10008.5.1.4.1.1.77.1.1',
      '1.2.840.10008.5.1.4.1.1.9.1.1',
    ],
    association: 'study',
    end: 'release',
    performedProcedure: true,
    commitment: true,
    userItems: [USER_ITEM.asynchronousWindow, USER_ITEM.userIdentity],
    privateData: { creator: 'CANON STYLE', group: '0011' },
  },
} as const satisfies Record<string, Cart>;

export type CartStyle = keyof typeof CARTS;
export const CART_STYLES = Object.keys(CARTS) as CartStyle[];
