"""An OpenAI-compatible server as the project uses one: agents, simulated users and judges alike."""

from toolenv.model_server.client import ChatServer, visible_text
from toolenv.model_server.outcome import Failure, Reply

__all__ = ["ChatServer", "Failure", "Reply", "visible_text"]
