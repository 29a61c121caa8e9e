/** Names of delivered and downloaded objects for a person. */
const OBJECTS: Readonly<Record<string, string>> = {
  'sr-tid1500': 'Structured report (measurements, TID 1500)',
  'sr-tid5000': 'Structured report (obstetric, TID 5000)',
  'sr-tid5200': 'Structured report (echo, TID 5200)',
  'sr-tid5300': 'Structured report (simplified echo, TID 5300)',
  'sr-echo': 'Structured report (echo)',
  seg: 'Segmentation',
  'key-objects': 'Key object selection',
  pdf: 'PDF report',
  report: 'PDF report',
  'secondary-capture': 'Secondary capture',
  'presentation-state': 'Presentation state',
  'fhir-bundle': 'FHIR report',
  'oru-r01': 'HL7 v2 report',
  result: 'Result (JSON)',
  escalation: 'Mail: critical finding not acknowledged',
  evidence: 'Evidence for the review (JSON)',
  overlays: 'Drawings on the pictures (JSON)',
  'growth-chart': 'Growth chart',
  bullseye: 'Segments of the left ventricle',
  'view-overview': 'Overview of the views',
};

/** Pure: returns the name of an object. Without a name its key is shown. */
export function objectText(object: string): string {
  if (object.startsWith('alert ')) return 'Mail about a critical finding';
  return OBJECTS[object] ?? object;
}

/**
 * Pure: returns the name of a destination as shown; mails have the destination `alert:` with the
 * name of their list.
 */
export const destinationText = (destination: string): string =>
  destination.replace(/^alert:/, 'mail to ');
