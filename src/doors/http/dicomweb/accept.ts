import type { Context } from 'koa';
import {
  EXPLICIT_VR_BIG_ENDIAN,
  EXPLICIT_VR_LITTLE_ENDIAN,
  transferSyntax,
} from '../../../../pipelines/dicom/transfer-syntaxes.ts';
import { SonogateError } from '../../../platform/errors/catalogue.ts';

/** One media range of an Accept header (RFC 9110 12.5.1), with the parameters of PS3.18 8.7. */
interface MediaRange {
  /**
   * The type in lower case. For `multipart/related`, the type of its parts, or `*\/*` if it is not
   * specified.
   */
  type: string;
  multipart: boolean;
  /** `*`, a UID, or null if the range specifies none. */
  transferSyntax: string | null;
}

const MOST_RANGES = 32;
/** A media type, a parameter or a separator. Quoted values can contain separators. */
const PIECE = /(?:[^,;"]|"[^"]*")+|[,;]/g;

/**
 * Returns the media ranges that a caller accepts, most preferred first. Refused ranges (`q=0`) are
 * omitted. The query parameter `accept` (PS3.18 8.3.3.1) takes precedence over the header.
 */
export function acceptedRanges(context: Pick<Context, 'get' | 'query'>): MediaRange[] {
  const parameter = [context.query.accept ?? []].flat().join(',');
  const header = parameter || context.get('Accept') || '*/*';
  const ranges: { range: MediaRange; quality: number }[] = [];
  let parameters: string[] = [];
  const end = () => {
    const one = mediaRange(parameters);
    if (one && one.quality > 0 && ranges.length < MOST_RANGES) ranges.push(one);
    parameters = [];
  };
  for (const [piece] of header.slice(0, 4096).matchAll(PIECE)) {
    if (piece === ',') end();
    else if (piece !== ';') parameters.push(piece.trim());
  }
  end();
  return ranges.sort((one, other) => other.quality - one.quality).map(({ range }) => range);
}

function mediaRange([name = '', ...parameters]: string[]): {
  range: MediaRange;
  quality: number;
} | null {
  if (name === '') return null;
  const values = new Map(
    parameters.map((text) => {
      const [key = '', value = ''] = text.split(/=(.*)/s).map((part) => part.trim());
      return [key.toLowerCase(), value.replace(/^"(.*)"$/, '$1')];
    }),
  );
  const outer = name.toLowerCase();
  const multipart = outer === 'multipart/related';
  const quality = Number(values.get('q') ?? 1);
  return {
    range: {
      type: multipart ? (values.get('type')?.toLowerCase() ?? '*/*') : outer,
      multipart,
      transferSyntax: values.get('transfer-syntax') ?? null,
    },
    quality: Number.isFinite(quality) ? quality : 0,
  };
}

const covers = (range: MediaRange, type: string): boolean =>
  range.type === type ||
  range.type === '*/*' ||
  (range.type.endsWith('/*') && type.startsWith(range.type.slice(0, -1)));

/** Returns the type among `types` that the caller prefers; null if the caller accepts none of them. */
export function preferredType<const T extends string>(
  ranges: readonly MediaRange[],
  types: readonly T[],
): T | null {
  for (const range of ranges) {
    const type = range.multipart ? undefined : types.find((one) => covers(range, one));
    if (type !== undefined) return type;
  }
  return null;
}

/**
 * Returns the type among `types` that the caller prefers.
 * @throws SonogateError `not_acceptable` if the caller accepts none of them.
 */
export function requireAccepted(ranges: readonly MediaRange[], types: readonly string[]): string {
  const type = preferredType(ranges, types);
  if (type !== null) return type;
  throw new SonogateError('not_acceptable', `Accept one of ${types.join(', ')}.`);
}

/**
 * True if an object stored in `syntax` may be sent as `application/dicom`. A range without a
 * transfer syntax accepts every transfer syntax, because the file itself states which one it uses.
 */
export function acceptsStored(ranges: readonly MediaRange[], syntax: string): boolean {
  return ranges.some(
    (range) =>
      covers(range, 'application/dicom') &&
      (range.transferSyntax === null || ['*', syntax].includes(range.transferSyntax)),
  );
}

/** True if the caller prefers a single object to a multipart message. */
export const acceptsSinglePart = (ranges: readonly MediaRange[]): boolean =>
  ranges[0]?.multipart === false && ranges[0].type === 'application/dicom';

/**
 * Media types of compressed frames (PS3.18 table 8.7.3-5). Video frames cannot be sent
 * individually.
 */
const FRAME_TYPES = {
  jpeg: 'image/jpeg',
  'jpeg-sequential': 'image/jpeg',
  'jpeg-ls': 'image/jls',
  'jpeg-2000': 'image/jp2',
  'ht-jpeg-2000': 'image/jphc',
  'jpeg-xl': 'image/jxl',
  rle: 'image/dicom-rle',
} as const;
type CompressedCoding = keyof typeof FRAME_TYPES;

/** How frames are sent: as stored, or decoded to Explicit VR Little Endian. */
interface FrameForm {
  as: 'stored' | 'native';
  contentType: string;
  /** True if the caller asked for this type outside of a multipart message. */
  single: boolean;
}

const OCTETS = 'application/octet-stream';

/**
 * Returns the form in which an object's frames are sent; null if the caller accepts no available
 * form.
 * @param decodable whether decoding preserves the photometric interpretation in the header.
 */
export function frameForm(
  ranges: readonly MediaRange[],
  syntax: string,
  decodable: boolean,
): FrameForm | null {
  const { coding } = transferSyntax(syntax);
  const isNative = coding === 'native' && syntax !== EXPLICIT_VR_BIG_ENDIAN;
  const compressed = Object.hasOwn(FRAME_TYPES, coding)
    ? FRAME_TYPES[coding as CompressedCoding]
    : null;
  for (const range of ranges) {
    const asked = range.transferSyntax;
    const single = !range.multipart && range.type !== '*/*';
    const asStored = asked === '*' || asked === syntax;
    if (compressed && covers(range, compressed) && (asked === null || asStored)) {
      return { as: 'stored', contentType: `${compressed}; transfer-syntax=${syntax}`, single };
    }
    if (!covers(range, OCTETS)) continue;
    if (compressed && asStored) {
      return { as: 'stored', contentType: `${OCTETS}; transfer-syntax=${syntax}`, single };
    }
    const wantsNative = asked === null || asked === '*' || asked === EXPLICIT_VR_LITTLE_ENDIAN;
    if (wantsNative && (isNative || decodable)) {
      return {
        as: isNative ? 'stored' : 'native',
        contentType: `${OCTETS}; transfer-syntax=${EXPLICIT_VR_LITTLE_ENDIAN}`,
        single,
      };
    }
  }
  return null;
}
