import type { NaturalDataset } from 'dcmjs';
import { encodePart10 } from '../../dicom/part10.ts';
import type { Code, ContentItem, ImageReference, ItemValue, Quantity } from './content-item.ts';

/** Maximum lengths of an SH (Code Value) and of an LO (Code Meaning) (PS3.5 6.2). */
const CODE_VALUE_LENGTH = 16;
const MEANING_LENGTH = 64;
const DECIMAL_STRING_LENGTH = 16;

/**
 * Returns a number as a DS of at most 16 characters (PS3.5 6.2), with as many digits as fit.
 * @throws RangeError for a number that is not finite.
 */
export function decimalString(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError(`${value} is not a finite number`);
  for (let digits = 17; digits > 1; digits -= 1) {
    const forms = [String(Number(value.toPrecision(digits))), value.toExponential(digits - 1)];
    const fitting = forms.find((form) => form.length <= DECIMAL_STRING_LENGTH);
    if (fitting) return fitting;
  }
  return value.toExponential(0);
}

function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 3).trimEnd()}...`;
}

/**
 * Builds the Basic Code Sequence Macro (PS3.3 Table 8.8-1). A long code is written as Long Code
 * Value.
 */
export function codeSequence({ scheme, code, meaning }: Code): NaturalDataset[] {
  const value = code.length > CODE_VALUE_LENGTH ? { LongCodeValue: code } : { CodeValue: code };
  return [
    {
      ...value,
      CodingSchemeDesignator: scheme,
      CodeMeaning: shortened(meaning, MEANING_LENGTH),
    },
  ];
}

/**
 * Number of significant digits in Numeric Value; Floating Point Value has full precision. Ten
 * digits are more than any document shows. With fewer, a document would round a number that was
 * already rounded (158.0247 to 158.025 to 158.03) and could differ from the other documents.
 */
const SHOWN_DIGITS = 10;

function measuredValue({ value, unit }: Quantity): NaturalDataset[] {
  return [
    {
      NumericValue: decimalString(Number(value.toPrecision(SHOWN_DIGITS))),
      FloatingPointValue: value,
      MeasurementUnitsCodeSequence: codeSequence(unit),
    },
  ];
}

/** Builds a SOP Instance Reference, with frame numbers for a multi-frame image (PS3.3 C.18.4). */
function referencedSop({ sopClassUid, sopInstanceUid, frame }: ImageReference): NaturalDataset[] {
  const reference = {
    ReferencedSOPClassUID: sopClassUid,
    ReferencedSOPInstanceUID: sopInstanceUid,
  };
  return [frame === null ? reference : { ...reference, ReferencedFrameNumber: String(frame) }];
}

function attributesOf(value: ItemValue): NaturalDataset {
  switch (value.type) {
    case 'CONTAINER':
      return {
        ContinuityOfContent: 'SEPARATE',
        ...(value.template && {
          ContentTemplateSequence: [
            { MappingResource: 'DCMR', TemplateIdentifier: value.template },
          ],
        }),
      };
    case 'CODE':
      return { ConceptCodeSequence: codeSequence(value.code) };
    case 'TEXT':
      return { TextValue: value.text };
    case 'UIDREF':
      return { UID: value.uid };
    case 'PNAME':
      return { PersonName: value.person };
    case 'DATE':
      return { Date: value.date };
    case 'NUM':
      return {
        MeasuredValueSequence: value.quantity ? measuredValue(value.quantity) : [],
        ...(value.qualifier && {
          NumericValueQualifierCodeSequence: codeSequence(value.qualifier),
        }),
      };
    case 'SCOORD':
      return { GraphicType: value.graphic.shape, GraphicData: [...value.graphic.data] };
    case 'IMAGE':
      return { ReferencedSOPSequence: referencedSop(value.image) };
    case 'COMPOSITE':
      return { ReferencedSOPSequence: referencedSop({ ...value.object, frame: null }) };
  }
}

/** Converts a content item and all items below it (PS3.3 C.17.3) to a data set by keyword. */
function toDataset(item: ContentItem): NaturalDataset {
  return {
    ...(item.relationship && { RelationshipType: item.relationship }),
    ValueType: item.value.type,
    ...(item.name && { ConceptNameCodeSequence: codeSequence(item.name) }),
    ...attributesOf(item.value),
    ...(item.items.length > 0 && { ContentSequence: item.items.map(toDataset) }),
  };
}

/**
 * Writes a header and content tree as a DICOM Part 10 file in Explicit VR Little Endian, with text
 * in UTF-8. `header` must have at least SOPClassUID and SOPInstanceUID.
 */
export function encode(header: NaturalDataset, root: ContentItem): Buffer {
  return encodePart10({ ...header, ...toDataset(root) });
}
