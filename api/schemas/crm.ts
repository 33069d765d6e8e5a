/** Schemas of the CRM operations. */
import Joi from 'joi';

import { wholeRecord } from './answers.js';
import { integer, nullable, orNull } from './fields.js';
import { named } from './reference.js';
import { orderDirection } from './enums.js';
import { accountId, remoteData } from './integrations.js';

const text = () => Joi.string().allow('');
const maybe = (about: string) => nullable(text()).description(about);
const remote = () =>
  nullable(Joi.object().unknown()).description(
    'The record as Salesforce returned it. `null` without `include_remote_data`.',
  );
const recordId = () => text().description('Id of the record at Salesforce, 18 characters.');
const owner = () =>
  named(
    'PartialOwner',
    wholeRecord({ id: maybe('Id of the user at Salesforce who owns the record.') }).description(
      'User who owns a record.',
    ),
  );
const account = () =>
  nullable(
    named(
      'PartialAccount',
      wholeRecord({ id: maybe('Id of the account, as in `GET /integrations/data/crm/accounts/{id}`.') }).description(
        'Account (company) that a record belongs to.',
      ),
    ),
  );
const contact = () =>
  nullable(
    named(
      'PartialContact',
      wholeRecord({ id: maybe('Id of the contact, as in `GET /integrations/data/crm/contacts/{id}`.') }).description(
        'Contact (person) that a record belongs to.',
      ),
    ),
  );
const times = {
  created_at: text().description('When the record was created, ISO 8601.'),
  updated_at: text().description('When a user last changed the record, ISO 8601.'),
  is_deleted: Joi.boolean().description('Whether the record is in the recycle bin of Salesforce.'),
  remote_data: remote(),
};

const opportunityStatus = () =>
  named(
    'OpportunityStatus',
    Joi.string().valid('WON', 'OPEN').description('Outcome of an opportunity. A lost one has no status.'),
  );
const addresses = () =>
  Joi.array()
    .items(
      named(
        'Address',
        wholeRecord({
          street_1: maybe('First line of the street, with its number.'),
          street_2: maybe('Further lines of the street, separated by commas.'),
          city: maybe('Town that users entered at Salesforce.'),
          state: maybe('State or province that users entered.'),
          postal_code: maybe('ZIP or postal code, as a text.'),
          country: maybe('Name or code of the country, as entered.'),
          address_type: maybe(
            '`BILLING` or `SHIPPING` of an account, `MAILING` or `OTHER` of a contact; `null` of a lead.',
          ),
        }).description('Postal address. Parts that are not known are `null`.'),
      ),
    )
    .description('Postal addresses of the record. Empty if Salesforce has none.');
const phoneNumbers = () =>
  Joi.array()
    .items(
      named(
        'PhoneNumber',
        wholeRecord({
          phone_number: text().description('Number in the form that users entered.'),
          phone_number_type: maybe('`PRIMARY`, `MOBILE`, `HOME`, `OTHER` or `FAX`.'),
        }).description('Number of a telephone or fax.'),
      ),
    )
    .description('Telephone and fax numbers of the record. Empty if Salesforce has none.');
const emails = () =>
  Joi.array()
    .items(
      named(
        'Email',
        wholeRecord({
          email: text().description('The address as Salesforce has it.'),
          email_type: maybe('Always `PRIMARY`: Salesforce has one address per person.'),
        }).description('E-mail address of a person.'),
      ),
    )
    .description('E-mail addresses: one, or an empty list.');

const ownerFields = { owner: owner(), account: account(), contact: contact() };
const task = named(
  'Task',
  wholeRecord({
    id: recordId(),
    ...ownerFields,
    subject: maybe('Short text that says what is to be done.'),
    description: maybe('Longer comment on the work.'),
    priority: maybe('Urgency in the words of the organization, such as `High`.'),
    status: maybe('Progress in the words of the organization, such as `Completed`.'),
    ...times,
  }).description('Work to do for an account or a person.'),
);
const event = named(
  'Event',
  wholeRecord({
    id: recordId(),
    ...ownerFields,
    subject: maybe('Short text that says what the appointment is about.'),
    description: maybe('Longer comment on the appointment.'),
    location: maybe('Where it takes place: a free text.'),
    is_all_day: Joi.boolean().description('Whether it has days instead of times.'),
    start_date: maybe('Start, ISO 8601; a day alone if there is no time.'),
    end_date: maybe('When the appointment ends, ISO 8601.'),
    ...times,
  }).description('Appointment with an account or a person.'),
);

/** A record with its optional related data, which is included on request. */
const record = (about: string, fields: Record<string, Joi.Schema>) =>
  wholeRecord({
    id: recordId(),
    description: maybe('Longer text about the record, as users entered it.'),
    last_activity_at: maybe('Day of the latest event or closed task, `YYYY-MM-DD`.'),
    ...times,
    ...fields,
  })
    .keys({
      tasks: nullable(Joi.array().items(task)).description(
        'Tasks of the record. Present only if `includes` has `Tasks`.',
      ),
      events: nullable(Joi.array().items(event)).description(
        'Appointments of the record. Present only if `includes` has `Events`.',
      ),
    })
    .description(about);

const ORDERS = ['created_at', 'updated_at', 'name', 'last_activity_at'];
const name = () =>
  orNull(text().max(2_048)).description('Part of the names of the records to return, ignoring case. Empty: all.');
const id = (of: string) =>
  orNull(text().max(100)).description(`Salesforce id of the ${of} of the records to return. Empty: all.`);

/** The kinds of records, by the names of their operations. */
export const CRM_OPERATIONS = {
  accounts: {
    one: 'account',
    names: { request: 'AccountsRequest', filters: 'AccountFilters', order: 'AccountsOrderBy', page: 'AccountResponse' },
    filters: { name: name(), owner_id: id('owner') },
    orders: [...ORDERS, 'number_of_employees'],
    record: named(
      'Account',
      record('Company or other organization that users of Salesforce deal with.', {
        owner: nullable(owner()),
        name: maybe('Display name of the company.'),
        industry: maybe('Branch of business, in the words of the organization.'),
        website: maybe('Address of its site in the form that users entered.'),
        number_of_employees: nullable(integer()).description('Headcount that users entered; `null` if unknown.'),
        addresses: addresses(),
        phone_numbers: phoneNumbers(),
      }),
    ),
  },
  leads: {
    one: 'lead',
    names: { request: 'LeadsRequest', filters: 'LeadFilters', order: 'LeadsOrderBy', page: 'LeadsResponse' },
    filters: {
      name: name(),
      owner_id: id('owner'),
      converted_account_id: id('account created by the conversion'),
      converted_contact_id: id('contact created by the conversion'),
    },
    orders: ORDERS,
    record: named(
      'Lead',
      record('Person who may become a customer.', {
        owner: owner(),
        source: maybe('Where the person was found, such as `Web`.'),
        status: maybe('Progress in the words of the organization, such as `Working - Contacted`.'),
        title: maybe('Position of the person at the company.'),
        company: maybe('Name of the organization that the person works for.'),
        first_name: maybe('Given name of the person.'),
        last_name: maybe('Family name of the person.'),
        addresses: addresses(),
        phone_numbers: phoneNumbers(),
        emails: emails(),
        converted_at: maybe('Day on which it became a contact, `YYYY-MM-DD`; `null` before.'),
        converted_account: account(),
        converted_contact: contact(),
      }),
    ),
  },
  contacts: {
    one: 'contact',
    names: {
      request: 'ContactsRequest',
      filters: 'ContactFilters',
      order: 'ContactsOrderBy',
      page: 'ContactsResponse',
    },
    filters: { name: name(), owner_id: id('owner'), account_id: id('account') },
    orders: [...ORDERS, 'title'],
    record: named(
      'Contact',
      record('Person at an account.', {
        owner: nullable(owner()),
        account: account(),
        first_name: maybe('Given name of the person.'),
        last_name: maybe('Family name of the person.'),
        name: maybe('Full display form, such as `Ada Lovelace`.'),
        title: maybe('Position of the person at the account.'),
        department: maybe('Part of the account in which the person works.'),
        addresses: addresses(),
        phone_numbers: phoneNumbers(),
        emails: emails(),
      }),
    ),
  },
  opportunities: {
    one: 'opportunity',
    names: {
      request: 'OpportunitiesRequest',
      filters: 'OpportunityFilters',
      order: 'OpportunitiesOrderBy',
      page: 'OpportunitiesResponse',
    },
    filters: {
      owner_id: id('owner'),
      account_id: id('account'),
      stage: orNull(text().max(255)).description('Name of a stage of the sales process, exactly as in `stage`.'),
      status: orNull(opportunityStatus()),
    },
    orders: [...ORDERS, 'amount', 'close_date'],
    record: named(
      'Opportunity',
      record('Sale that is planned, won or lost.', {
        owner: owner(),
        name: maybe('Display title of the sale.'),
        amount: nullable(integer()).description('Expected value, rounded, in the currency of the record.'),
        account: account(),
        contact: contact(),
        stage: maybe('Step of the sales process, in the words of the organization.'),
        status: nullable(opportunityStatus()),
        close_date: maybe('Day on which the sale is expected to end, or ended, `YYYY-MM-DD`.'),
      }),
    ),
  },
} as const satisfies Record<
  string,
  {
    readonly one: string;
    /** Names of its schemas in the reference. */
    readonly names: Readonly<Record<'request' | 'filters' | 'order' | 'page', string>>;
    readonly filters: Record<string, Joi.Schema>;
    readonly orders: readonly string[];
    readonly record: Joi.ObjectSchema;
  }
>;
export type CrmOperation = keyof typeof CRM_OPERATIONS;

/** The kinds of related records that a request may name. */
export const crmIncludes = () =>
  Joi.array()
    .items(
      named(
        'BaseIncludes',
        Joi.string().valid('Tasks', 'Events').description('Kind of related records: work to do, or appointments.'),
      ),
    )
    .unique();
/** Default and maximum number of records per page. */
const PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 200;
const MAX_CURSOR = 4_096;

/** The body of a live list of CRM records of one kind. */
export const crmListing = (kind: CrmOperation) =>
  named(
    CRM_OPERATIONS[kind].names.request,
    Joi.object({
      data_source_id: accountId(),
      include_remote_data: remoteData(),
      next_cursor: orNull(text().max(MAX_CURSOR)).description(
        'Value of `next_cursor` of the page before. Absent or empty: the first page.',
      ),
      page_size: orNull(integer().min(1).max(MAX_PAGE_SIZE), PAGE_SIZE).description(
        `Maximum number of records on a page: ${PAGE_SIZE} by default, ${MAX_PAGE_SIZE} at most.`,
      ),
      order_by: orNull(
        named(
          CRM_OPERATIONS[kind].names.order,
          Joi.string()
            .valid(...CRM_OPERATIONS[kind].orders)
            .description('Field by which records are sorted. Records without a value come last in both directions.'),
        ),
      ).description('Field by which records are sorted. Without it, they are sorted by id.'),
      order_dir: orNull(orderDirection(), 'asc').description(
        'Direction of `order_by`. Records without a value come last in both directions.',
      ),
      includes: crmIncludes().default([]).description('Related records to return with each record: `Tasks`, `Events`.'),
      filters: named(
        CRM_OPERATIONS[kind].names.filters,
        Joi.object(CRM_OPERATIONS[kind].filters).description('Conditions for records. All conditions must hold.'),
      ).default({}),
    }).description('Selects and sorts records of a connected Salesforce.'),
  );
