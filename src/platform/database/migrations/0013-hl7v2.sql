-- Accepted HL7 version 2 messages (src/doors/hl7v2/receive): a message that is sent again gets the
-- same answer and changes nothing.
CREATE TABLE hl7_messages (
  -- MSH-3 and MSH-4 of the sender, MSH-10, and the SHA-256 of the message.
  sender text NOT NULL,
  control_id text NOT NULL,
  digest text NOT NULL,
  received_at timestamptz NOT NULL,
  -- The answers, without their MLLP frames.
  answers bytea[] NOT NULL,
  PRIMARY KEY (sender, control_id, digest)
);
CREATE INDEX hl7_messages_received ON hl7_messages (received_at);

-- Orders that arrived by HL7 version 2 (src/core/studies/received-orders.ts).
CREATE TABLE received_orders (
  id uuid PRIMARY KEY,
  -- Placer and filler order number, each with who assigned it; '' where the order has none.
  placer text NOT NULL,
  placer_authority text NOT NULL,
  filler text NOT NULL,
  filler_authority text NOT NULL,
  withdrawn boolean NOT NULL,
  -- When the order was last changed, by the clock of its sender.
  ordered_at timestamptz NOT NULL,
  received_at timestamptz NOT NULL,
  -- Patient ID, issuer, birth date and sex (PatientIdentity).
  patient jsonb NOT NULL,
  -- What it states about each requested procedure (Order and Study Instance UID).
  entries jsonb NOT NULL,
  accession_numbers text[] NOT NULL,
  study_uids text[] NOT NULL
);
CREATE INDEX received_orders_placer ON received_orders (placer) WHERE placer <> '';
CREATE INDEX received_orders_filler ON received_orders (filler) WHERE filler <> '';
CREATE INDEX received_orders_accession ON received_orders USING gin (accession_numbers);
CREATE INDEX received_orders_study ON received_orders USING gin (study_uids);
CREATE INDEX received_orders_patient ON received_orders ((patient ->> 'patientId'));
CREATE INDEX received_orders_received ON received_orders (received_at);

-- Patient IDs that became one patient (ADT^A40), always within one assigning authority.
CREATE TABLE patient_merges (
  id uuid PRIMARY KEY,
  authority text NOT NULL,
  -- Whether images that name no issuer are of this authority.
  unissued boolean NOT NULL,
  prior_id text NOT NULL,
  survivor_id text NOT NULL,
  -- By the clock of the sender; the later of two merges of one ID counts.
  effective_at timestamptz NOT NULL,
  received_at timestamptz NOT NULL,
  sender text NOT NULL,
  control_id text NOT NULL,
  -- Set when an operator separates the patients, or a later merge replaces this one.
  withdrawn_at timestamptz
);
CREATE INDEX patient_merges_prior ON patient_merges (prior_id) WHERE withdrawn_at IS NULL;
CREATE INDEX patient_merges_survivor ON patient_merges (survivor_id) WHERE withdrawn_at IS NULL;

-- What messages changed in the identity of a received study. The objects stay as they arrived.
CREATE TABLE patient_corrections (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  study_id uuid NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  -- The patient ID of the study to which this applies.
  patient_id text NOT NULL,
  -- Attributes by DICOM keyword, in place of those of the images.
  stated jsonb NOT NULL,
  effective_at timestamptz NOT NULL,
  received_at timestamptz NOT NULL,
  merge_id uuid REFERENCES patient_merges (id) ON DELETE CASCADE,
  sender text NOT NULL,
  control_id text NOT NULL,
  withdrawn_at timestamptz
);
CREATE INDEX patient_corrections_study ON patient_corrections (study_id);
CREATE INDEX patient_corrections_merge ON patient_corrections (merge_id) WHERE merge_id IS NOT NULL;

-- The identity as the images state it; null while `identity` is the same.
ALTER TABLE studies ADD COLUMN received_identity jsonb;
CREATE INDEX studies_patient ON studies ((identity ->> 'PatientID'));
