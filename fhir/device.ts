import { createHash } from 'node:crypto';
import type { Device, Identifier } from '@medplum/fhirtypes';
import { MANUFACTURER } from '../pipelines/artifacts/dicom/modules.ts';
import { SOFTWARE } from './codes.ts';
import { resultIdentifier } from './identifiers.ts';
import type { ReportContext } from './report-context.ts';

/**
 * The software that measured. One Device per pipeline version and set of weights, shared by all
 * reports and never updated; so the weights are part of its identifier (SemVer build metadata).
 */
export function buildDevice(context: ReportContext): Device {
  const { result } = context;
  return {
    resourceType: 'Device',
    identifier: [deviceIdentifier(context)],
    status: 'active',
    // Who made the software, not who runs it: the custodian stands in the Provenance.
    manufacturer: MANUFACTURER,
    deviceName: [{ name: `Sonogate ${result.endpoint}`, type: 'model-name' }],
    modelNumber: result.version,
    type: SOFTWARE,
    version: [
      { type: { text: 'software' }, value: result.version },
      ...result.models.map((model) => ({
        type: { text: 'model-sha256' },
        component: { value: `${model.id}@${model.version}` },
        value: model.sha256,
      })),
    ],
  };
}

/** Key of the conditional create. */
export function deviceIdentifier({ result, resultSystem }: ReportContext): Identifier {
  const weights = createHash('sha256')
    .update(
      result.models
        .map((model) => model.sha256)
        .sort()
        .join(),
    )
    .digest('hex')
    .slice(0, 12);
  const version = `${result.endpoint}@${result.version}+${weights}`;
  return resultSystem === null
    ? resultIdentifier(null, version, 'Device')
    : { system: `${resultSystem}/device`, value: version };
}
