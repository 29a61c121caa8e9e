import type { JsonDataSet } from '../../../../pipelines/dicom/dicom-json.ts';
import { element, escapeXml } from '../../../platform/xml.ts';

/** Keywords of the attributes of a store response (PS3.18 table 10.5.3-2). */
const KEYWORDS: Readonly<Record<string, string>> = {
  '00081150': 'ReferencedSOPClassUID',
  '00081155': 'ReferencedSOPInstanceUID',
  '00081190': 'RetrieveURL',
  '00081197': 'FailureReason',
  '00081198': 'FailedSOPSequence',
  '00081199': 'ReferencedSOPSequence',
  '0008119A': 'OtherFailuresSequence',
};

/**
 * Returns the response of a store transaction in the Native DICOM Model (PS3.19 A.1). Its values are
 * text, numbers and items; names and binary values have other elements, which it does not need.
 */
export function nativeDicomModel(dataSet: JsonDataSet): string {
  const xmlns = 'http://dicom.nema.org/PS3.19/models/NativeDICOM';
  const model = element(
    'NativeDicomModel',
    { xmlns, 'xml:space': 'preserve' },
    ...attributesOf(dataSet),
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n${model}`;
}

function attributesOf(dataSet: JsonDataSet): string[] {
  return Object.entries(dataSet).map(([tag, { vr, Value = [] }]) =>
    element(
      'DicomAttribute',
      { tag, vr, keyword: KEYWORDS[tag] },
      ...Value.map((value, index) => {
        const number = { number: String(index + 1) };
        return vr === 'SQ'
          ? element('Item', number, ...attributesOf(value as JsonDataSet))
          : element('Value', number, escapeXml(String(value)));
      }),
    ),
  );
}
