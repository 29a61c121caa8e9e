import { data, type NaturalDataset } from 'dcmjs';
import {
  type Code,
  type ContentItem,
  type Graphic,
  type ItemValue,
  type Quantity,
  RELATIONSHIPS,
} from './content-item.ts';

export interface SrFile {
  header: NaturalDataset;
  root: ContentItem;
}

function datasets(value: unknown): NaturalDataset[] {
  if (Array.isArray(value)) return value;
  return value && typeof value === 'object' ? [{ ...value }] : [];
}

const string = (value: unknown): string => (value === undefined ? '' : String(value));

function codeIn(value: unknown): Code | null {
  const [item] = datasets(value);
  if (!item) return null;
  return {
    scheme: string(item.CodingSchemeDesignator),
    code: string(item.CodeValue ?? item.LongCodeValue),
    meaning: string(item.CodeMeaning),
  };
}

const NO_CODE: Code = { scheme: '', code: '', meaning: '' };

function quantityIn(value: unknown): Quantity | null {
  const [item] = datasets(value);
  if (!item) return null;
  return {
    value: Number(item.FloatingPointValue ?? item.NumericValue),
    unit: codeIn(item.MeasurementUnitsCodeSequence) ?? NO_CODE,
  };
}

const SHAPES = ['POINT', 'POLYLINE', 'ELLIPSE'] as const;

function graphicIn(item: NaturalDataset): Graphic {
  const shape = SHAPES.find((known) => known === item.GraphicType);
  if (!shape) throw new Error(`graphic type ${string(item.GraphicType)} is not read`);
  const data = Array.isArray(item.GraphicData) ? item.GraphicData.map(Number) : [];
  return { shape, data };
}

function valueIn(item: NaturalDataset): ItemValue {
  switch (item.ValueType) {
    case 'CONTAINER': {
      const [template] = datasets(item.ContentTemplateSequence);
      return {
        type: 'CONTAINER',
        template: template ? string(template.TemplateIdentifier) : null,
      };
    }
    case 'CODE':
      return { type: 'CODE', code: codeIn(item.ConceptCodeSequence) ?? NO_CODE };
    case 'TEXT':
      return { type: 'TEXT', text: string(item.TextValue) };
    case 'UIDREF':
      return { type: 'UIDREF', uid: string(item.UID) };
    case 'PNAME':
      return { type: 'PNAME', person: string(item.PersonName) };
    case 'DATE':
      return { type: 'DATE', date: string(item.Date) };
    case 'NUM':
      return {
        type: 'NUM',
        quantity: quantityIn(item.MeasuredValueSequence),
        qualifier: codeIn(item.NumericValueQualifierCodeSequence),
      };
    case 'SCOORD':
      return { type: 'SCOORD', graphic: graphicIn(item) };
    case 'IMAGE': {
      const [sop] = datasets(item.ReferencedSOPSequence);
      return {
        type: 'IMAGE',
        image: {
          sopClassUid: string(sop?.ReferencedSOPClassUID),
          sopInstanceUid: string(sop?.ReferencedSOPInstanceUID),
          frame:
            sop?.ReferencedFrameNumber === undefined ? null : Number(sop.ReferencedFrameNumber),
        },
      };
    }
    case 'COMPOSITE': {
      const [sop] = datasets(item.ReferencedSOPSequence);
      return {
        type: 'COMPOSITE',
        object: {
          sopClassUid: string(sop?.ReferencedSOPClassUID),
          sopInstanceUid: string(sop?.ReferencedSOPInstanceUID),
        },
      };
    }
    default:
      throw new Error(`value type ${string(item.ValueType)} is not read`);
  }
}

function itemIn(item: NaturalDataset): ContentItem {
  return {
    relationship: RELATIONSHIPS.find((known) => known === item.RelationshipType) ?? null,
    name: codeIn(item.ConceptNameCodeSequence),
    value: valueIn(item),
    items: datasets(item.ContentSequence).map(itemIn),
  };
}

/**
 * Reads an SR that contains only the value types that the gateway writes.
 * @throws Error for another value type or graphic type, or for bytes that are not DICOM.
 */
export function decode(bytes: Buffer): SrFile {
  const file = data.DicomMessage.readFile(new Uint8Array(bytes).buffer);
  const header = data.DicomMetaDictionary.naturalizeDataset(file.dict);
  return { header, root: itemIn(header) };
}
