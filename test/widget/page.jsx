/** The page of an integrator: only the widget, with the options of the test (`globalThis.wishes`) and tokens of its own back end. */
import { CarbonConnect } from 'carbon-connect';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';

const { customer, ...wishes } = globalThis.wishes;
globalThis.told = [];

const tokenFetcher = async () => (await fetch(`/token?${new URLSearchParams({ customer })}`)).json();
const tell = (data) => globalThis.told.push(data);

function Page() {
  const [open, setOpen] = useState(true);
  return (
    <CarbonConnect
      orgName="Harbour"
      brandIcon="/brand.svg"
      tokenFetcher={tokenFetcher}
      onSuccess={tell}
      onError={tell}
      open={open}
      setOpen={setOpen}
      {...wishes}
    />
  );
}

createRoot(document.getElementById('root')).render(<Page />);
