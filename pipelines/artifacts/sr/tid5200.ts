import type { Subject } from '../../dicom/subject.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { accepted } from '../../result/render/statement.ts';
import { withoutComparisons } from '../../result/standing.ts';
import { type ContentItem, code, container, root } from './content-item.ts';
import { ECHO_SITES, type EchoSite, echoSite, siteOf } from './echo-sites.ts';
import { encode } from './encode.ts';
import { languageItem, observerItems, srHeader } from './header.ts';
import { measurementItem, sourcesOf } from './measured-value.ts';
import { imageLibrary } from './references.ts';
import { SR } from './vocabulary.ts';

const BODY_SURFACE_AREA = 'body-surface-area';

/** Returns the site of a value if it is not the structure of its section (TID 5203, CID 12236). */
function ownSite(measurement: Measurement): ContentItem[] {
  const section = echoSite(measurement);
  const site = siteOf(measurement);
  return section && site && site.code !== ECHO_SITES[section].code
    ? [code('HAS CONCEPT MOD', SR.findingSite, site)]
    : [];
}

function item(measurement: Measurement, subject: Subject): ContentItem {
  return measurementItem(measurement, {
    modifiers: ownSite(measurement),
    sources: sourcesOf(measurement, subject),
  });
}

/** Returns the patient characteristics used for indexing, such as body surface area (TID 5201). */
function patientCharacteristics(measurements: readonly Measurement[], subject: Subject) {
  const area = measurements.filter(({ concept }) => concept.key === BODY_SURFACE_AREA);
  if (area.length === 0) return [];
  const items = area.map((measurement) => item(measurement, subject));
  return [container(SR.patientCharacteristics, items, '5201')];
}

/** Builds the section for one structure with its measurements (TID 5202). */
function findings(
  site: EchoSite,
  measurements: readonly Measurement[],
  subject: Subject,
): ContentItem {
  return container(
    SR.findings,
    [
      code('HAS CONCEPT MOD', SR.findingSite, ECHO_SITES[site]),
      container(
        SR.measurementGroup,
        measurements.map((measurement) => item(measurement, subject)),
      ),
    ],
    '5202',
  );
}

/**
 * Builds the content tree of TID 5200 (PS3.16; exchange 2.7). It contains only accepted values,
 * grouped by structure.
 */
function tid5200Tree(result: Result, subject: Subject): ContentItem {
  const measurements = withoutComparisons(accepted(result));
  const bySite = Map.groupBy(measurements, echoSite);
  const sites = Object.keys(ECHO_SITES).filter((site): site is EchoSite =>
    bySite.has(site as EchoSite),
  );
  return root(SR.adultEchoReport, '5200', [
    languageItem(),
    ...observerItems(result),
    ...patientCharacteristics(measurements, subject),
    ...imageLibrary(subject),
    ...sites.map((site) => findings(site, bySite.get(site) ?? [], subject)),
  ]);
}

/**
 * Writes the adult echo report for older reporting systems: TID 5200 as a Comprehensive SR.
 * @returns a DICOM Part 10 file; the same result and subject give the same bytes.
 */
export function buildTid5200(result: Result, subject: Subject): Buffer {
  const tree = tid5200Tree(result, subject);
  const document = { sopClass: 'comprehensive', role: 'sr-tid5200', number: 3, tree } as const;
  return encode(srHeader(result, subject, document), tree);
}
