import { expect, it } from 'vitest';
import {
  DELIVERY_KINDS,
  type DeliveryKind,
  MAY_BE_DIVERTED,
  NOTICES,
  TO_CLIENTS,
} from '../../../../src/core/outbox/delivery.ts';

it('goes to a client by webhook or subscription only: mail goes to people of the hospital', () => {
  expect(TO_CLIENTS).toBe("('webhook', 'subscription')");
});

it('is a notice if it only says that there is something to read', () => {
  expect(NOTICES).toBe("('mail', 'webhook', 'subscription')");
});

it('is diverted only if the other PACS gets the same object: never a de-identified copy', () => {
  expect(MAY_BE_DIVERTED).toBe("('dicom', 'forward')");
});

it('is a report if an EHR files it, which drafts must not replace once it is signed', () => {
  const kinds = Object.keys(DELIVERY_KINDS) as DeliveryKind[];
  expect(kinds.filter((kind) => DELIVERY_KINDS[kind].carries === 'report')).toEqual([
    'fhir',
    'hl7v2',
  ]);
});
