"""Python clients of OpenAI's and Anthropic's APIs against /v1, unmodified and at their defaults.

Each check prints a line, "ok  CLIENT | what it shows"; the process ends with 1
where one failed. A package that is not installed is skipped with a line that
says so.

A 429 says Retry-After: 7, which clients that ask again wait for: those checks
alone let them ask once.
"""

import asyncio
import importlib
import json
import os
import sys
import traceback

BASE = os.environ.get("CLIENT_BASE_URL", "http://127.0.0.1:7700/v1")
KEY = os.environ.get("CLIENT_KEY", "unused")
QUESTION = "Which films did Christopher Nolan direct?"
MESSAGES = [{"role": "user", "content": QUESTION}]
LONG = "demo/c20000-d50"  # an answer of a quarter of an hour
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather in a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False},
    },
}

os.environ.update(OPENAI_BASE_URL=BASE, OPENAI_API_KEY=KEY, OPENAI_AGENTS_DISABLE_TRACING="1", LITELLM_LOCAL_MODEL_COST_MAP="True")
failed = False


def report(name, ok, got=""):
    global failed
    failed = failed or not ok
    print(("ok  " if ok else "FAIL"), name, "" if ok else f"\n     {got}", flush=True)


def check(name, shows):
    """Runs a check at once; it returns whether all is well, and what it saw."""

    def run(f):
        try:
            ok, got = f()
        except Exception:
            ok, got = False, traceback.format_exc(limit=-3)
        report(f"{name} | {shows}", ok, got)

    return run


def closes(coroutine):
    """Leaves in the middle of an answer that would take very long."""

    async def run():
        task = asyncio.ensure_future(coroutine())
        await asyncio.sleep(0.7)
        if task.done():
            return False, task.exception() or task.result()
        task.cancel()
        try:
            return False, await task
        except BaseException as e:  # some wrap the cancellation
            return task.done(), e

    return asyncio.run(run())


def raises(kind, f, status=None):
    try:
        got = f()
    except kind as e:
        code = getattr(e, "status_code", None)
        return status is None or code == status, f"{type(e)} with status {code}"
    return False, f"no error but {got!r}"


def have(*modules):
    try:
        for m in modules:
            importlib.import_module(m)
        return True
    except ImportError as e:
        print("skip", modules[0], e, flush=True)
        return False


def openai_python():
    import openai
    from pydantic import BaseModel

    client = openai.OpenAI(base_url=BASE, api_key=KEY)
    ask = {"model": "demo/text", "messages": MESSAGES}

    @check("openai", "models")
    def _():
        ids = [m.id for m in client.models.list()]
        return "demo/text" in ids and client.models.retrieve("demo/text").id == "demo/text", ids

    @check("openai", "whole, usage")
    def _():
        r = client.chat.completions.create(**ask)
        return "Inception" in r.choices[0].message.content and r.usage.total_tokens > 0 and r.model == "demo/text" and r._request_id, r

    @check("openai", "streamed, usage")
    def _():
        chunks = list(client.chat.completions.create(**ask, stream=True, stream_options={"include_usage": True}))
        text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
        return "Inception" in text and chunks[-1].usage.total_tokens > 0, chunks

    @check("openai", "tools, by the stream helper")
    def _():
        with client.chat.completions.stream(model="demo/tool", messages=MESSAGES, tools=[WEATHER]) as s:
            r = s.get_final_completion()
        return json.loads(r.choices[0].message.tool_calls[0].function.arguments) == {"city": "Paris"}, r

    @check("openai", "tools")
    def _():
        r = client.chat.completions.create(model="demo/tool", messages=MESSAGES, tools=[WEATHER])
        c = r.choices[0]
        return c.finish_reason == "tool_calls" and json.loads(c.message.tool_calls[0].function.arguments) == {"city": "Paris"}, r

    class City(BaseModel):
        city: str

    @check("openai", "structured output")
    def _():
        r = client.chat.completions.parse(model="demo/json", messages=MESSAGES, response_format=City)
        return r.choices[0].message.parsed.city == "Paris", r

    @check("openai", "wrong key")
    def _():
        return raises(openai.AuthenticationError, lambda: client.with_options(api_key="nope").chat.completions.create(**ask), 401)

    @check("openai", "unknown model")
    def _():
        return raises(openai.NotFoundError, lambda: client.chat.completions.create(**{**ask, "model": "nope"}), 404)

    @check("openai", "429")
    def _():
        try:
            client.with_options(max_retries=0).chat.completions.create(**{**ask, "model": "demo/error"})
        except openai.RateLimitError as e:
            return e.response.headers["retry-after"] == "7" and e.code == "rate_limit_exceeded" and "slow down" in str(e), e
        return False, "no error"

    @check("openai", "cancel of a whole answer")
    def _():
        return raises(openai.APITimeoutError, lambda: client.with_options(timeout=0.5).chat.completions.create(**{**ask, "model": LONG}))

    @check("openai", "cancel of a stream")
    def _():
        s = client.chat.completions.create(**{**ask, "model": LONG}, stream=True)
        next(iter(s))
        s.close()
        return True, ""

    @check("openai", "responses whole, kept, goes on")
    def _():
        r = client.responses.create(model="demo/text", input=QUESTION)
        again = client.responses.retrieve(r.id)
        more = client.responses.create(model="demo/text", input="And then?", previous_response_id=r.id)
        client.responses.delete(r.id)
        return "Inception" in r.output_text and again.output_text == r.output_text and more.status == "completed" and r.usage.total_tokens > 0, r

    @check("openai", "responses streamed")
    def _():
        with client.responses.stream(model="demo/text", input=QUESTION) as s:
            events = [e.type for e in s]
            r = s.get_final_response()
        return "Inception" in r.output_text and events[-1] == "response.completed", events

    @check("openai", "responses with tools")
    def _():
        tool = {"type": "function", **WEATHER["function"], "strict": True}
        with client.responses.stream(model="demo/tool", input=QUESTION, tools=[tool]) as s:
            r = s.get_final_response()
        return json.loads(r.output[-1].arguments) == {"city": "Paris"}, r

    @check("openai", "responses with structured output")
    def _():
        return client.responses.parse(model="demo/json", input=QUESTION, text_format=City).output_parsed.city == "Paris", ""


def anthropic_python():
    import anthropic

    client = anthropic.Anthropic(base_url=BASE.removesuffix("/v1"), api_key=KEY)
    ask = {"model": "demo/text", "max_tokens": 1000, "messages": MESSAGES}
    weather = {"name": "weather", "description": "The weather in a city", "input_schema": WEATHER["function"]["parameters"]}

    @check("anthropic", "whole, usage")
    def _():
        r = client.messages.create(**ask)
        return "Inception" in r.content[0].text and r.usage.output_tokens > 0 and r.stop_reason == "end_turn" and r._request_id, r

    @check("anthropic", "streamed, usage")
    def _():
        with client.messages.stream(**ask) as s:
            text = "".join(s.text_stream)
            r = s.get_final_message()
        return "Inception" in text and r.content[0].text == text and r.usage.output_tokens > 0, r

    @check("anthropic", "tools")
    def _():
        r = client.messages.create(**{**ask, "model": "demo/tool"}, tools=[weather])
        with client.messages.stream(**{**ask, "model": "demo/tool"}, tools=[weather]) as s:
            streamed = s.get_final_message()
        return all(m.stop_reason == "tool_use" and m.content[-1].type == "tool_use" and m.content[-1].input == {"city": "Paris"} for m in (r, streamed)), (r, streamed)

    @check("anthropic", "structured output")
    def _():
        schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
        r = client.messages.create(**{**ask, "model": "demo/json"}, output_config={"format": {"type": "json_schema", "schema": schema}})
        return json.loads(r.content[0].text) == {"city": "Paris"}, r

    @check("anthropic", "tokens counted")
    def _():
        r = client.messages.count_tokens(model="demo/text", messages=MESSAGES)
        return r.input_tokens > 0, r

    @check("anthropic", "wrong key")
    def _():
        return raises(anthropic.AuthenticationError, lambda: client.with_options(api_key="nope").messages.create(**ask), 401)

    @check("anthropic", "unknown model")
    def _():
        return raises(anthropic.NotFoundError, lambda: client.messages.create(**{**ask, "model": "nope"}), 404)

    @check("anthropic", "429")
    def _():
        try:
            client.with_options(max_retries=0).messages.create(**{**ask, "model": "demo/error"})
        except anthropic.RateLimitError as e:
            return e.response.headers["retry-after"] == "7" and e.body["error"]["type"] == "rate_limit_error" and "slow down" in str(e), e
        return False, "no error"

    @check("anthropic", "cancel of a whole answer")
    def _():
        return raises(anthropic.APITimeoutError, lambda: client.with_options(timeout=0.5).messages.create(**{**ask, "model": LONG}))

    @check("anthropic", "cancel of a stream")
    def _():
        s = client.messages.create(**{**ask, "model": LONG}, stream=True)
        next(iter(s))
        s.close()
        return True, ""


def langchain():
    import openai
    from langchain_openai import ChatOpenAI
    from pydantic import BaseModel

    def model(name, **more):
        return ChatOpenAI(model=name, base_url=BASE, api_key=more.pop("api_key", KEY), **more)

    @check("langchain", "whole, usage")
    def _():
        r = model("demo/text").invoke(QUESTION)
        return "Inception" in r.content and r.usage_metadata["total_tokens"] > 0, r

    @check("langchain", "streamed")
    def _():
        return "Inception" in "".join(c.content for c in model("demo/text").stream(QUESTION)), ""

    @check("langchain", "responses")
    def _():
        r = model("demo/text", use_responses_api=True).invoke(QUESTION)
        return "Inception" in r.text, r

    @check("langchain", "tools")
    def _():
        r = model("demo/tool").bind_tools([WEATHER]).invoke(QUESTION)
        return r.tool_calls[0]["args"] == {"city": "Paris"}, r

    class City(BaseModel):
        city: str

    @check("langchain", "structured output")
    def _():
        return model("demo/json").with_structured_output(City).invoke(QUESTION).city == "Paris", ""

    @check("langchain", "wrong key")
    def _():
        return raises(openai.AuthenticationError, lambda: model("demo/text", api_key="nope").invoke(QUESTION))

    @check("langchain", "unknown model")
    def _():
        return raises(openai.NotFoundError, lambda: model("nope").invoke(QUESTION))

    @check("langchain", "429")
    def _():
        return raises(openai.RateLimitError, lambda: model("demo/error", max_retries=0).invoke(QUESTION))

    @check("langchain", "cancel")
    def _():
        return closes(lambda: model(LONG).ainvoke(QUESTION))


def litellm_python():
    import litellm
    from pydantic import BaseModel

    def call(model, **more):
        return {"model": "openai/" + model, "api_base": BASE, "api_key": KEY, "messages": MESSAGES, **more}

    def ask(model, **more):
        return litellm.completion(**call(model, **more))

    @check("litellm", "whole, usage")
    def _():
        r = ask("demo/text")
        return "Inception" in r.choices[0].message.content and r.usage.total_tokens > 0, r

    @check("litellm", "streamed")
    def _():
        return "Inception" in "".join(c.choices[0].delta.content or "" for c in ask("demo/text", stream=True)), ""

    @check("litellm", "tools")
    def _():
        return json.loads(ask("demo/tool", tools=[WEATHER]).choices[0].message.tool_calls[0].function.arguments) == {"city": "Paris"}, ""

    class City(BaseModel):
        city: str

    @check("litellm", "structured output")
    def _():
        r = ask("demo/json", response_format=City)
        return City.model_validate_json(r.choices[0].message.content).city == "Paris", r

    @check("litellm", "wrong key")
    def _():
        return raises(litellm.AuthenticationError, lambda: ask("demo/text", api_key="nope"))

    @check("litellm", "unknown model")
    def _():
        return raises(litellm.NotFoundError, lambda: ask("nope"))

    @check("litellm", "429")
    def _():
        return raises(litellm.RateLimitError, lambda: ask("demo/error", num_retries=0, max_retries=0))

    @check("litellm", "cancel")
    def _():
        return closes(lambda: litellm.acompletion(**call(LONG)))


def llama_index():
    import openai
    from llama_index.core.llms import ChatMessage
    from llama_index.core.tools import FunctionTool
    from llama_index.llms.openai_like import OpenAILike
    from pydantic import BaseModel

    def model(name, **more):
        return OpenAILike(model=name, api_base=BASE, api_key=more.pop("api_key", KEY), is_chat_model=True, is_function_calling_model=True, **more)

    messages = [ChatMessage(role="user", content=QUESTION)]

    @check("llama-index", "whole, usage")
    def _():
        r = model("demo/text").chat(messages)
        return "Inception" in r.message.content and r.raw.usage.total_tokens > 0, r

    @check("llama-index", "streamed")
    def _():
        return "Inception" in list(model("demo/text").stream_chat(messages))[-1].message.content, ""

    @check("llama-index", "tools")
    def _():
        def weather(city: str) -> str:
            """The weather in a city."""
            return "Sun."

        llm = model("demo/tool")
        calls = llm.get_tool_calls_from_response(llm.chat_with_tools([FunctionTool.from_defaults(weather)], QUESTION))
        return calls[0].tool_kwargs == {"city": "Paris"}, calls

    class City(BaseModel):
        city: str

    @check("llama-index", "structured output")
    def _():
        return model("demo/tool").as_structured_llm(City).chat(messages).raw.city == "Paris", ""

    @check("llama-index", "wrong key")
    def _():
        return raises(openai.AuthenticationError, lambda: model("demo/text", api_key="nope").chat(messages))

    @check("llama-index", "unknown model")
    def _():
        return raises(openai.NotFoundError, lambda: model("nope").chat(messages))

    @check("llama-index", "429")
    def _():
        return raises(openai.RateLimitError, lambda: model("demo/error", max_retries=0).chat(messages))

    @check("llama-index", "cancel")
    def _():
        return closes(lambda: model(LONG).achat(messages))


def pydantic_ai():
    import openai
    from pydantic import BaseModel
    from pydantic_ai import Agent, NativeOutput
    from pydantic_ai.exceptions import ModelHTTPError
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    def model(name, api_key=KEY):
        return OpenAIChatModel(name, provider=OpenAIProvider(base_url=BASE, api_key=api_key))

    @check("pydantic-ai", "whole, usage")
    def _():
        r = Agent(model("demo/text")).run_sync(QUESTION)
        u = r.usage() if callable(r.usage) else r.usage
        return "Inception" in r.output and u.total_tokens > 0, r

    @check("pydantic-ai", "streamed")
    def _():
        async def run():
            async with Agent(model("demo/text")).run_stream(QUESTION) as r:
                return await r.get_output()

        got = asyncio.run(run())
        return "Inception" in got, got

    @check("pydantic-ai", "responses")
    def _():
        r = Agent(OpenAIResponsesModel("demo/text", provider=OpenAIProvider(base_url=BASE, api_key=KEY))).run_sync(QUESTION)
        return "Inception" in r.output, r

    class City(BaseModel):
        city: str

    class Asked(Exception):
        """Ends a run whose model would call its tool for ever."""

    @check("pydantic-ai", "tools")
    def _():
        def weather(city: str) -> str:
            raise Asked(city)

        try:
            return False, Agent(model("demo/tool"), tools=[weather]).run_sync(QUESTION)
        except Asked as e:
            return e.args == ("Paris",), e

    @check("pydantic-ai", "structured output")
    def _():
        return Agent(model("demo/json"), output_type=NativeOutput(City)).run_sync(QUESTION).output.city == "Paris", ""

    @check("pydantic-ai", "structured output by a tool, its default")
    def _():
        return Agent(model("demo/tool"), output_type=City).run_sync(QUESTION).output.city == "Paris", ""

    @check("pydantic-ai", "wrong key")
    def _():
        return raises(ModelHTTPError, lambda: Agent(model("demo/text", "nope")).run_sync(QUESTION), 401)

    @check("pydantic-ai", "unknown model")
    def _():
        return raises(ModelHTTPError, lambda: Agent(model("nope")).run_sync(QUESTION), 404)

    @check("pydantic-ai", "429")
    def _():
        once = openai.AsyncOpenAI(base_url=BASE, api_key=KEY, max_retries=0)
        return raises(ModelHTTPError, lambda: Agent(OpenAIChatModel("demo/error", provider=OpenAIProvider(openai_client=once))).run_sync(QUESTION), 429)

    @check("pydantic-ai", "cancel")
    def _():
        return closes(lambda: Agent(model(LONG)).run(QUESTION))


def instructor_python():
    import instructor
    import openai
    from pydantic import BaseModel

    class City(BaseModel):
        city: str

    def client(mode=None, **more):
        c = openai.OpenAI(**{"base_url": BASE, "api_key": KEY, **more})
        return (instructor.from_openai(c, mode=mode) if mode else instructor.from_openai(c)).chat.completions

    def why(e):
        """The errors that one was raised of: a failure is wrapped with what was tried."""
        while e:
            yield e
            e = e.__cause__ or e.__context__

    def fails(kind, **more):
        try:
            got = client(**more.pop("client", {})).create(response_model=City, messages=MESSAGES, **more)
        except Exception as e:
            return any(isinstance(x, kind) for x in why(e)), e
        return False, got

    @check("instructor", "whole, without a model of the answer")
    def _():
        return "Inception" in client().create(model="demo/text", response_model=None, messages=MESSAGES).choices[0].message.content, ""

    @check("instructor", "tools, structured output, usage")
    def _():
        city, completion = client().create_with_completion(model="demo/tool", response_model=City, messages=MESSAGES)
        return city.city == "Paris" and completion.usage.total_tokens > 0, completion

    @check("instructor", "structured output by JSON")
    def _():
        return client(instructor.Mode.JSON).create(model="demo/json", response_model=City, messages=MESSAGES).city == "Paris", ""

    @check("instructor", "streamed, in part")
    def _():
        return list(client().create_partial(model="demo/tool", response_model=City, messages=MESSAGES))[-1].city == "Paris", ""

    @check("instructor", "wrong key")
    def _():
        return fails(openai.AuthenticationError, model="demo/tool", client={"api_key": "nope"})

    @check("instructor", "unknown model")
    def _():
        return fails(openai.NotFoundError, model="nope")

    @check("instructor", "429")
    def _():
        return fails(openai.RateLimitError, model="demo/error", client={"max_retries": 0}, max_retries=0)

    @check("instructor", "cancel")
    def _():
        c = instructor.from_openai(openai.AsyncOpenAI(base_url=BASE, api_key=KEY)).chat.completions
        return closes(lambda: c.create(model=LONG, response_model=City, messages=MESSAGES))


def openai_agents():
    import openai
    from agents import Agent, Runner, function_tool, set_default_openai_client, set_tracing_disabled
    from agents.models.openai_chatcompletions import OpenAIChatCompletionsModel
    from pydantic import BaseModel

    set_tracing_disabled(True)

    def fresh(**more):
        """A client belongs to the loop that it was first used in."""
        client = openai.AsyncOpenAI(**{"base_url": BASE, "api_key": KEY, **more})
        set_default_openai_client(client, use_for_tracing=False)
        return client

    # A slash divides a provider from a model there: its models are workspaces alone.
    @check("openai-agents", "whole, usage")
    def _():
        fresh()
        r = Runner.run_sync(Agent(name="a", instructions="Be brief.", model="demo"), QUESTION)
        return "Inception" in r.final_output and r.context_wrapper.usage.total_tokens > 0, r

    @check("openai-agents", "streamed")
    def _():
        fresh()
        async def run():
            r = Runner.run_streamed(Agent(name="a", model="demo"), QUESTION)
            async for _ in r.stream_events():
                pass
            return r.final_output

        got = asyncio.run(run())
        return "Inception" in got, got

    @check("openai-agents", "tools")
    def _():
        fresh()
        seen = []

        @function_tool
        def weather(city: str) -> str:
            seen.append(city)
            return "Sun."

        agent = Agent(name="a", model="tool", tools=[weather], tool_use_behavior="stop_on_first_tool")
        r = Runner.run_sync(agent, QUESTION)
        return seen == ["Paris"] and r.final_output == "Sun.", r

    class City(BaseModel):
        city: str

    @check("openai-agents", "structured output")
    def _():
        fresh()
        return Runner.run_sync(Agent(name="a", model="json", output_type=City), QUESTION).final_output.city == "Paris", ""

    @check("openai-agents", "whole, by chat completions")
    def _():
        r = Runner.run_sync(Agent(name="a", model=OpenAIChatCompletionsModel("demo/text", fresh())), QUESTION)
        return "Inception" in r.final_output, r

    @check("openai-agents", "wrong key")
    def _():
        fresh(api_key="nope")
        return raises(openai.AuthenticationError, lambda: Runner.run_sync(Agent(name="a", model="demo"), QUESTION))

    @check("openai-agents", "unknown model")
    def _():
        fresh()
        return raises(openai.NotFoundError, lambda: Runner.run_sync(Agent(name="a", model="nope"), QUESTION))

    @check("openai-agents", "429")
    def _():
        fresh(max_retries=0)
        return raises(openai.RateLimitError, lambda: Runner.run_sync(Agent(name="a", model="error"), QUESTION))

    @check("openai-agents", "cancel")
    def _():
        fresh()
        return closes(lambda: Runner.run(Agent(name="a", model="long"), QUESTION))


def llm_python():
    import llm
    import openai
    from llm.default_plugins.openai_models import AsyncChat, Chat
    from pydantic import BaseModel

    def model(name, key=KEY, kind=Chat):
        m = kind(name, model_name=name, api_base=BASE, supports_tools=True, supports_schema=True)
        m.key = key
        return m

    class City(BaseModel):
        city: str

    @check("llm", "whole, usage")
    def _():
        r = model("demo/text").prompt(QUESTION, stream=False)
        return "Inception" in r.text() and r.usage().output > 0, r

    @check("llm", "streamed")
    def _():
        r = "".join(model("demo/text").prompt(QUESTION))
        return "Inception" in r, r

    @check("llm", "tools")
    def _():
        def weather(city: str) -> str:
            """The weather in a city."""
            return "Sun."

        calls = model("demo/tool").prompt(QUESTION, tools=[weather]).tool_calls()
        return calls[0].arguments == {"city": "Paris"}, calls

    @check("llm", "structured output")
    def _():
        return json.loads(model("demo/json").prompt(QUESTION, schema=City).text()) == {"city": "Paris"}, ""

    @check("llm", "wrong key")
    def _():
        return raises(openai.AuthenticationError, lambda: model("demo/text", "nope").prompt(QUESTION).text())

    @check("llm", "unknown model")
    def _():
        return raises(openai.NotFoundError, lambda: model("nope").prompt(QUESTION).text())

    @check("llm", "429, asked again as it does")
    def _():
        return raises(openai.RateLimitError, lambda: model("demo/error").prompt(QUESTION).text())

    @check("llm", "cancel")
    def _():
        async def run():
            return await model(LONG, kind=AsyncChat).prompt(QUESTION).text()

        return closes(run)


for needs, client in [
    (("openai",), openai_python),
    (("anthropic",), anthropic_python),
    (("langchain_openai",), langchain),
    (("litellm",), litellm_python),
    (("llama_index.llms.openai_like",), llama_index),
    (("pydantic_ai.models.openai",), pydantic_ai),
    (("instructor",), instructor_python),
    (("agents",), openai_agents),
    (("llm",), llm_python),
]:
    if have(*needs):
        try:
            client()
        except Exception:
            report(needs[0], False, traceback.format_exc(limit=-3))
sys.stdout.flush()
# Some packages leave threads that would keep the process.
os._exit(1 if failed else 0)
